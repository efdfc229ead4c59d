//! `man/` equals what the command tree generates, and `completions/` what the binary prints;
//! UPDATE_EXPECT=1 writes the pages again.

use std::path::Path;

use qless::internals::generated_files as files;

#[test]
fn completions_and_man_pages_are_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let update = std::env::var_os("UPDATE_EXPECT").is_some();
    let files = files().unwrap();
    let mut stale = Vec::new();
    for file in &files {
        let path = root.join(&file.path);
        if std::fs::read(&path).is_ok_and(|bytes| bytes == file.bytes) {
            continue;
        }
        if update {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &file.bytes).unwrap();
        } else {
            stale.push(file.path.clone());
        }
    }
    for dir in ["completions", "man"] {
        for entry in std::fs::read_dir(root.join(dir)).unwrap().flatten() {
            let path = format!("{dir}/{}", entry.file_name().to_str().unwrap());
            if files.iter().any(|file| file.path == path) {
                continue;
            }
            if update {
                std::fs::remove_file(entry.path()).unwrap()
            } else {
                stale.push(path)
            }
        }
    }
    assert_eq!(stale, [""; 0], "run `UPDATE_EXPECT=1 cargo test generated`");
}

/// A page of a subcommand has no version of its own.
#[test]
fn each_manual_page_names_the_program_and_its_version() {
    let source = format!("\"qless {}\"", env!("CARGO_PKG_VERSION"));
    for file in files().unwrap() {
        let text = String::from_utf8_lossy(&file.bytes);
        if let Some(title) = text.lines().find(|line| line.starts_with(".TH ")) {
            let is_own = title.contains(&source) || title.ends_with("\"\" \"\" \"qless\"");
            assert!(is_own, "{title}");
        }
    }
}
