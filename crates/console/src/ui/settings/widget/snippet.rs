//! The code that puts the widget onto a page: a script tag, the npm package, and Leptos.

use std::fmt::Write;

use serde_json::Value;

use super::option::Field;
use super::options::{CUSTOM_THEME, WidgetOptions, attribute_text};

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
    let mut theme = None;
    for (option, value) in options.changed() {
        let text = attribute_text(&value);
        let (field, code) = match option.field {
            Field::None => continue,
            Field::Theme => {
                types.push("Theme");
                theme = Some(if text == CUSTOM_THEME {
                    format!("Theme::Custom({:?}.parse().expect(\"a colour\"))", options.accent)
                } else {
                    format!("Theme::{}", pascal(&text))
                });
                continue;
            }
            Field::Text(field) => (field, format!("Some({text:?}.to_owned())")),
            Field::Texts(field) => {
                let texts = value.as_array().into_iter().flatten().filter_map(Value::as_str);
                let texts: Vec<String> = texts.map(|text| format!("{text:?}.to_owned()")).collect();
                (field, format!("vec![{}]", texts.join(", ")))
            }
            Field::Choice(field, kind) => {
                types.push(kind);
                (field, format!("{kind}::{}", pascal(&text)))
            }
            Field::Flag(field, value) => (field, value.to_string()),
        };
        let _ = writeln!(fields, "    settings.{field} = {code};");
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
    use serde_json::json;

    use super::*;

    fn code(kind: Snippet, options: Value) -> String {
        let options: WidgetOptions = serde_json::from_value(options).expect("options");
        kind.code(&options, "/connector", "/chat-widget")
    }

    /// The playground's test reads the same file.
    #[test]
    fn the_code_is_that_of_the_playground() {
        let cases: Vec<Value> = serde_json::from_str(include_str!("snippets.json")).expect("cases");
        for case in cases {
            for (kind, name) in [(Snippet::Script, "script"), (Snippet::Leptos, "leptos")] {
                let code = code(kind, case["controls"].clone());
                assert_eq!(json!(code.lines().collect::<Vec<_>>()), case[name]);
            }
        }
    }

    #[test]
    fn hostile_texts_stay_inside_their_attribute_and_their_literal() {
        let options = json!({ "texts": {
            "greeting": "\"></script><b onx='1'>&\n",
            "suggestedQuestions": "It's </script>\"?",
        } });
        let tag = code(Snippet::Script, options.clone());
        assert_eq!(tag.matches("</script>").count(), 1, "{tag}");
        assert!(tag.contains("data-greeting=\"&quot;>&lt;/script>&lt;b onx='1'>&amp;\""), "{tag}");
        assert!(tag.contains("data-suggested-questions='[\"It&#39;s &lt;/script>\\\"?\"]'"), "{tag}");
        let script = code(Snippet::Npm, options);
        assert!(!script.contains("</script>"), "{script}");
    }
}
