//! The code that puts the widget onto a page: a script tag, the npm package, and Leptos.

use std::fmt::Write;

use serde_json::Value;

use super::options::{WidgetOptions, attribute_text};

/// A kind of code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Snippet {
    /// A script tag.
    #[default]
    Script,
    /// The npm package.
    Npm,
    /// The Leptos component.
    Leptos,
}

impl Snippet {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Script, Self::Npm, Self::Leptos];

    /// Returns the code for options. `proxy` is the option, and `files` the folder of the widget's files.
    pub fn code(self, options: &WidgetOptions, proxy: &str, files: &str) -> String {
        match self {
            Self::Script => script_tag(&options.chosen(proxy), files),
            Self::Npm => npm(&options.chosen(proxy)),
            Self::Leptos => leptos(options, proxy),
        }
    }
}

/// Returns an option's name in kebab-case.
fn kebab(name: &str) -> String {
    let mut kebab = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            kebab.push('-');
        }
        kebab.push(letter.to_ascii_lowercase());
    }
    kebab
}

fn script_tag(options: &[(&str, Value)], files: &str) -> String {
    let mut tag = format!("<script async src=\"{}/chat-widget.js\"", escaped(files, '"'));
    let separator = if options.len() == 1 { " " } else { "\n  " };
    for (name, value) in options {
        let text = attribute_text(value);
        // JSON stays readable between single quotes.
        let quote = if value.is_string() { '"' } else { '\'' };
        let _ = write!(tag, "{separator}data-{}={quote}{}{quote}", kebab(name), escaped(&text, quote));
    }
    tag.push_str("></script>");
    tag
}

/// Escapes a text for an attribute between these quotes.
fn escaped(text: &str, quote: char) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '\n' => escaped.push_str("&#10;"),
            '"' if quote == '"' => escaped.push_str("&quot;"),
            '\'' if quote == '\'' => escaped.push_str("&#39;"),
            letter => escaped.push(letter),
        }
    }
    escaped
}

fn npm(options: &[(&str, Value)]) -> String {
    let mut code = "import { ChatWidget } from \"@site-connector/chat-widget\";\n\n".to_owned();
    code.push_str("await ChatWidget.mount({\n");
    for (name, value) in options {
        // Safe in a script of a page as well.
        let literal = value.to_string().replace("</", "<\\/");
        let _ = writeln!(code, "  {name}: {literal},");
    }
    code.push_str("});");
    code
}

fn leptos(options: &WidgetOptions, proxy: &str) -> String {
    let mut types = vec!["ChatWidget", "Settings"];
    let mut fields = String::new();
    let mut field = |name: &str, value: String| {
        let _ = writeln!(fields, "    settings.{name} = {value};");
    };
    for (name, value) in [
        ("locale", &options.locale),
        ("greeting", &options.greeting),
        ("operator_name", &options.operator_name),
        ("reply_time", &options.reply_time),
    ] {
        if !value.trim().is_empty() {
            field(name, format!("Some({value:?}.to_owned())", value = value.trim()));
        }
    }
    for (name, kind, value, default) in [
        ("color_scheme", "ColorScheme", &options.color_scheme, "theme"),
        ("position", "Position", &options.position, "end"),
        ("events", "EventMode", &options.events, "auto"),
    ] {
        if value != default {
            types.push(kind);
            field(name, format!("{kind}::{}", pascal(value)));
        }
    }
    let questions = options.questions();
    if !questions.is_empty() {
        let questions: Vec<String> = questions.iter().map(|it| format!("{it:?}.to_owned()")).collect();
        field("suggested_questions", format!("vec![{}]", questions.join(", ")));
    }
    if options.needs_consent {
        field("consent", "false".to_owned());
    }
    if options.launcher != "default" {
        field("launcher", "false".to_owned());
    }
    let theme = match options.theme.as_str() {
        "teal" => None,
        "custom" => Some(format!("Theme::Custom({:?}.parse().expect(\"a colour\"))", options.accent)),
        preset => Some(format!("Theme::{}", pascal(preset))),
    };
    if theme.is_some() {
        types.push("Theme");
    }
    types.sort_unstable();
    let mutable = if fields.is_empty() { "" } else { "mut " };
    let mut code = format!("use chat_widget::{{{}}};\nuse leptos::prelude::*;\n\n", types.join(", "));
    code.push_str("#[component]\nfn Chat() -> impl IntoView {\n");
    let _ = writeln!(code, "    let {mutable}settings = Settings::new({proxy:?});");
    code.push_str(&fields);
    let prop = match theme {
        Some(theme) => {
            let _ = writeln!(code, "    let theme = {theme};");
            " theme"
        }
        None => "",
    };
    let _ = write!(code, "    view! {{ <ChatWidget settings{prop}/> }}\n}}");
    code
}

/// Returns a name such as `light_teal` as that of a variant.
fn pascal(name: &str) -> String {
    name.split('_')
        .map(|word| {
            let mut letters = word.chars();
            let first = letters.next().map(|letter| letter.to_ascii_uppercase());
            first.into_iter().chain(letters).collect::<String>()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(kind: Snippet, options: &WidgetOptions) -> String {
        kind.code(options, "/connector", "/chat-widget")
    }

    #[test]
    fn the_default_is_one_short_tag() {
        assert_eq!(
            code(Snippet::Script, &WidgetOptions::default()),
            r#"<script async src="/chat-widget/chat-widget.js" data-proxy="/connector"></script>"#
        );
    }

    #[test]
    fn hostile_texts_stay_inside_their_attribute_and_their_literal() {
        let options = WidgetOptions {
            greeting: "\"></script><b onx='1'>&\n".to_owned(),
            suggested_questions: "It's </script>\"?".to_owned(),
            ..WidgetOptions::default()
        };
        let tag = code(Snippet::Script, &options);
        assert_eq!(tag.matches("</script>").count(), 1, "{tag}");
        assert!(tag.contains("data-greeting=\"&quot;>&lt;/script>&lt;b onx='1'>&amp;\""), "{tag}");
        assert!(tag.contains("data-suggested-questions='[\"It&#39;s &lt;/script>\\\"?\"]'"), "{tag}");
        let script = code(Snippet::Npm, &options);
        assert!(!script.contains("</script>"), "{script}");
    }

    #[test]
    fn a_component_names_the_types_that_it_uses() {
        let options = WidgetOptions {
            theme: "light_teal".to_owned(),
            color_scheme: "auto".to_owned(),
            operator_name: "Maren \"M\"".to_owned(),
            ..WidgetOptions::default()
        };
        let code = code(Snippet::Leptos, &options);
        assert!(code.starts_with("use chat_widget::{ChatWidget, ColorScheme, Settings, Theme};"), "{code}");
        assert!(code.contains("settings.operator_name = Some(\"Maren \\\"M\\\"\".to_owned());"), "{code}");
        assert!(code.contains("let theme = Theme::LightTeal;"), "{code}");
        assert!(code.ends_with("    view! { <ChatWidget settings theme/> }\n}"), "{code}");
    }
}
