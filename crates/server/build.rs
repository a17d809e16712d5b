//! Embeds the built and compressed files of the console. Without them the console is a page that says how to build it.

use std::collections::hash_map::DefaultHasher;
use std::fmt::Write as _;
use std::fs;
use std::hash::{Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let dist = Path::new(&std::env::var("CARGO_MANIFEST_DIR")?).join("../../web/dist");
    println!("cargo:rerun-if-changed={}", dist.display());
    let mut files = Vec::new();
    if dist.is_dir() {
        collect(&dist.canonicalize()?, Path::new(""), &mut files)?;
    }
    files.sort();
    let mut table = String::from("&[\n");
    for (name, path) in &files {
        let mut hasher = DefaultHasher::new();
        fs::read(path)?.hash(&mut hasher);
        let sibling = |end: &str| path.with_file_name(format!("{}.{end}", file_name(path)));
        let body = match (sibling("br"), sibling("gz")) {
            (brotli, gzip) if brotli.is_file() && gzip.is_file() => {
                let (brotli, gzip) = (included(&brotli), included(&gzip));
                format!("Compressed {{ brotli: {brotli}, gzip: {gzip} }}")
            }
            _ => format!("Plain({})", included(path)),
        };
        let (content_type, etag) = (content_type(name), hasher.finish());
        let body = format!("portico_api::console::AssetBody::{body}");
        writeln!(
            table,
            "({name:?}, Asset {{ content_type: {content_type:?}, etag: \"{etag:016x}\", body: {body} }}),"
        )?;
    }
    table.push(']');
    fs::write(Path::new(&std::env::var("OUT_DIR")?).join("console.rs"), table)?;
    Ok(())
}

/// A Rust expression of the file's bytes.
fn included(path: &Path) -> String {
    format!("include_bytes!({:?})", path.to_string_lossy())
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Every uncompressed file with its path relative to the folder.
fn collect(folder: &Path, below: &Path, files: &mut Vec<(String, PathBuf)>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = file_name(&path);
        println!("cargo:rerun-if-changed={}", path.display());
        if name.starts_with('.') {
            continue;
        }
        if path.is_dir() {
            collect(&path, &below.join(&name), files)?;
        } else if !path.extension().is_some_and(|end| end == "br" || end == "gz") {
            files.push((below.join(&name).to_string_lossy().into_owned(), path));
        }
    }
    Ok(())
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or("", |(_, end)| end) {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "json" => "application/json",
        "webmanifest" => "application/manifest+json",
        "woff2" => "font/woff2",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}
