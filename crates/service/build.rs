//! Includes the built console, `dist/console/`, in release builds. Debug builds read it at run time, so that
//! a change of the console compiles nothing here.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("CARGO_MANIFEST_DIR"));
    let folder = manifest.join("../../dist/console");
    let is_release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let mut code = String::new();
    if is_release {
        println!("cargo::rerun-if-changed={}", folder.display());
        let files = files(&folder, "");
        writeln!(code, "pub(super) static FILES: [(&str, &[u8]); {}] = [", files.len()).expect("a string");
        for (name, path) in files {
            let path = path.to_string_lossy();
            writeln!(code, "    ({name:?}, include_bytes!({path:?})),").expect("a string");
        }
        code.push_str("];\n");
    } else {
        let folder = folder.to_string_lossy();
        writeln!(code, "pub(super) const FOLDER: &str = {folder:?};").expect("a string");
    }
    println!("cargo::rustc-check-cfg=cfg(console_included)");
    if is_release {
        println!("cargo::rustc-cfg=console_included");
    }
    let out = Path::new(&env::var_os("OUT_DIR").expect("OUT_DIR")).join("console_files.rs");
    fs::write(out, code).expect("a writable file");
}

/// Returns the names and the paths of the files in a folder and in the folders inside, without hidden ones.
fn files(folder: &Path, prefix: &str) -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = entry.path();
        if name.starts_with('.') {
            continue;
        }
        if path.is_dir() {
            found.extend(files(&path, &format!("{prefix}{name}/")));
        } else {
            found.push((format!("{prefix}{name}"), path));
        }
    }
    found.sort();
    found
}
