//! Joins the widget's style sheets into one, without comments and indentation: the text goes into the module.

use std::path::PathBuf;
use std::{env, error::Error, fs};

/// In this order: what is general first.
const SHEETS: [&str; 9] =
    ["tokens", "base", "launcher", "window", "log", "text", "composer", "panel", "modes"];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=styles");
    let mut joined = String::new();
    for name in SHEETS {
        joined.push_str(&fs::read_to_string(format!("styles/{name}.css"))?);
    }
    let minified = minifier::css::minify(&joined)?.to_string();
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("widget.css"), minified)?;
    Ok(())
}
