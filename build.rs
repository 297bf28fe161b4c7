//! Joins the widget's style sheets into one, without comments and indentation: the text goes into the module.

use std::path::PathBuf;
use std::{env, error::Error, fs};

/// In this order: what is general first.
const SHEETS: [&str; 8] = ["tokens", "base", "launcher", "window", "log", "text", "composer", "modes"];

/// The sheets of what is not visible at first, in this order after the others. With the feature
/// `deferred-styles` they are left out: `dist/` has them as a file of its own.
const DEFERRED: [&str; 13] = [
    "deferred/wait",
    "deferred/jump",
    "deferred/rich-text",
    "deferred/preview",
    "deferred/contact",
    "deferred/actions",
    "deferred/menu",
    "deferred/panel",
    "deferred/hover",
    "deferred/reduced-motion",
    "deferred/low-screen",
    "deferred/print",
    "deferred/forced-colors",
];

/// The size of the module's stack.
const STACK_BYTES: u32 = 256 * 1024;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=styles");
    // The linker reserves 1 MiB in every page. Recursion is bounded: JSON and Markdown have a maximum depth.
    if env::var("CARGO_CFG_TARGET_ARCH")? == "wasm32" {
        println!("cargo::rustc-link-arg-cdylib=-zstack-size={STACK_BYTES}");
    }
    let mut joined = String::new();
    let deferred = env::var_os("CARGO_FEATURE_DEFERRED_STYLES").is_none().then_some(DEFERRED);
    for name in SHEETS.into_iter().chain(deferred.into_iter().flatten()) {
        joined.push_str(&fs::read_to_string(format!("styles/{name}.css"))?);
    }
    let minified = minifier::css::minify(&written_out(&joined))?.to_string();
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("widget.css"), minified)?;
    Ok(())
}

/// Tokens that are the same everywhere: no theme sets them, and no page is told of them.
const CONSTANT: [&str; 3] = ["--cw-space-", "--cw-weight-", "--cw-motion-"];

/// The sheet with the values of constant tokens in their places, which weighs less than their names.
fn written_out(sheet: &str) -> String {
    let is_constant = |line: &str| CONSTANT.iter().any(|name| line.trim_start().starts_with(name));
    let (constants, rest): (Vec<&str>, Vec<&str>) = sheet.lines().partition(|line| is_constant(line));
    let mut written = rest.join("\n");
    for constant in constants {
        if let Some((name, value)) = constant.trim().trim_end_matches(';').split_once(": ") {
            written = written.replace(&format!("var({name})"), value);
        }
    }
    written
}
