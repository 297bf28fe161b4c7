//! Crawlers of answer engines that say so, and obey `robots.txt`.

/// The names by which `robots.txt` addresses them, as their operators document.
pub(crate) const CRAWLERS: [&str; 16] = [
    "GPTBot",
    "OAI-SearchBot",
    "ChatGPT-User",
    "ClaudeBot",
    "Claude-User",
    "Claude-SearchBot",
    "PerplexityBot",
    "Perplexity-User",
    "Google-Extended",
    "Applebot-Extended",
    "Amazonbot",
    "Meta-ExternalAgent",
    "MistralAI-User",
    "DuckAssistBot",
    "CCBot",
    "Bytespider",
];
