//! The providers of AI that the settings know, with what a site has to fill in for each.

/// A provider of AI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AiProvider {
    /// Its name in the API.
    pub id: &'static str,
    /// Its name as people know it.
    pub name: &'static str,
    /// The base address; capital letters stand for what the site fills in.
    pub base: &'static str,
    /// A model as an example.
    pub model: &'static str,
    /// Whether it needs a key.
    pub needs_key: bool,
    /// The tokens of question and answer together that the service reckons with, if the site names no number.
    pub context_tokens: u32,
}

/// Tokens of providers whose models all take far more than a conversation has.
const LARGE: u32 = 32_000;
/// Tokens of models that run on a machine of the site's own.
const SMALL: u32 = 8_192;

const fn cloud(id: &'static str, name: &'static str, base: &'static str, model: &'static str) -> AiProvider {
    AiProvider { id, name, base, model, needs_key: true, context_tokens: LARGE }
}

const fn local(id: &'static str, name: &'static str, base: &'static str, model: &'static str) -> AiProvider {
    AiProvider { id, name, base, model, needs_key: false, context_tokens: SMALL }
}

/// The providers, in the order in which they are offered.
pub const AI_PROVIDERS: [AiProvider; 12] = [
    cloud("openai", "OpenAI", "https://api.openai.com/v1", "gpt-5-mini"),
    cloud("azure", "Azure OpenAI", "https://RESOURCE.openai.azure.com/openai/v1", "gpt-4o"),
    cloud("anthropic", "Anthropic", "https://api.anthropic.com/v1", "claude-haiku-4-5"),
    cloud(
        "gemini",
        "Google Gemini",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "gemini-2.5-flash",
    ),
    cloud("mistral", "Mistral", "https://api.mistral.ai/v1", "mistral-small-latest"),
    cloud("deepseek", "DeepSeek", "https://api.deepseek.com/v1", "deepseek-chat"),
    cloud("openrouter", "OpenRouter", "https://openrouter.ai/api/v1", "openai/gpt-4o-mini"),
    cloud("groq", "Groq", "https://api.groq.com/openai/v1", "llama-3.3-70b-versatile"),
    local("ollama", "Ollama", "http://localhost:11434", "qwen3:8b"),
    local("vllm", "vLLM", "http://localhost:8000/v1", "Qwen/Qwen3-8B"),
    local("llamacpp", "llama.cpp", "http://localhost:8080/v1", "default"),
    local("lmstudio", "LM Studio", "http://localhost:1234/v1", "qwen/qwen3-8b"),
];

/// The id of any other endpoint that speaks OpenAI's chat completions.
pub const CUSTOM_AI_PROVIDER: &str = "custom";

impl AiProvider {
    /// Any other endpoint that speaks OpenAI's chat completions.
    pub const CUSTOM: Self = local(CUSTOM_AI_PROVIDER, "", "https://ai.example/v1", "");

    /// Returns the provider with an id.
    pub fn of(id: &str) -> Option<Self> {
        AI_PROVIDERS.into_iter().chain([Self::CUSTOM]).find(|provider| provider.id == id)
    }
}
