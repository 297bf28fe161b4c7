//! Makes constants of the texts in `texts/en/`, so that a missing text is an error of the compiler.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

use serde_json::Value;

fn main() {
    println!("cargo::rerun-if-changed=texts/en");
    let mut paths: Vec<_> =
        fs::read_dir("texts/en").expect("texts/en").map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let mut code = String::new();
    for path in paths {
        println!("cargo::rerun-if-changed={}", path.display());
        // The service names these texts, and says them in English itself.
        if path.ends_with("service.json") {
            continue;
        }
        let json = fs::read_to_string(&path).expect("a readable file");
        let texts: BTreeMap<String, Value> = serde_json::from_str(&json)
            .unwrap_or_else(|error| panic!("invalid texts in {}: {error}", path.display()));
        let file = path.file_stem().and_then(|name| name.to_str()).expect("a name").to_owned();
        writeln!(code, "/// The texts of `texts/en/{file}.json`.").expect("a string");
        let allow = "#[allow(clippy::doc_markdown, reason = \"the texts are no Markdown\")]";
        writeln!(code, "{allow}\npub mod {file} {{").expect("a string");
        if texts.values().any(Value::is_string) {
            code.push_str("    use super::Text;\n");
        }
        if texts.values().any(Value::is_object) {
            code.push_str("    use super::Plural;\n");
        }
        for (key, text) in &texts {
            writeln!(code, "{}", constant(&file, key, text)).expect("a string");
        }
        code.push_str("}\n");
    }
    let out = Path::new(&env::var("OUT_DIR").expect("OUT_DIR")).join("texts.rs");
    fs::write(out, code).expect("a writable file");
}

/// Returns the constant of a text.
fn constant(file: &str, key: &str, text: &Value) -> String {
    let name = key.to_uppercase();
    let path = format!("{file}.{key}");
    match text {
        Value::String(text) => {
            format!("    /// {text:?}\n    pub const {name}: Text = Text::new({path:?}, {text:?});")
        }
        Value::Object(forms) => {
            let form = |name: &str| {
                forms
                    .get(name)
                    .and_then(Value::as_str)
                    .unwrap_or_else(|| panic!("invalid text {path}: expected the form `{name}`"))
            };
            let (one, other) = (form("one"), form("other"));
            format!(
                "    /// {other:?}\n    pub const {name}: Plural = Plural::new({path:?}, {one:?}, {other:?});"
            )
        }
        _ => panic!("invalid text {path}: expected a text, or an object of its plural forms"),
    }
}
