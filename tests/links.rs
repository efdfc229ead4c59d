//! Links between the pages of this repository lead to files and headings that exist.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use regex::Regex;

/// The pages below a directory, without the pages of builds.
fn pages(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        let is_page = path.extension().is_some_and(|it| it == "md");
        if is_page && !path.ends_with("SUMMARY.md") {
            found.push(path);
        }
    }
}

/// The text of a page without its blocks of code.
fn prose(path: &Path) -> String {
    let page = std::fs::read_to_string(path).unwrap();
    let mut is_code = false;
    let lines = page.lines().filter(|line| {
        let is_fence = line.starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The anchors of the headings of a page, as forges and the book make them.
fn anchors(page: &str) -> HashSet<String> {
    let headings = page.lines().filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| {
        let words = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = words
            .chars()
            .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.collect::<String>().replace(' ', "-")
    };
    headings.map(anchor).collect()
}

#[test]
fn links_lead_to_files_and_headings() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for dir in ["", "docs", "lua"] {
        pages(&root.join(dir), &mut found);
    }
    let link = Regex::new(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)").unwrap();
    let (mut lost, mut followed) = (Vec::new(), 0);
    for path in &found {
        let text = prose(path);
        for link in link.captures_iter(&text) {
            let target = &link[1];
            if target.starts_with("http") {
                continue;
            }
            let file = match target {
                "" => path.clone(),
                _ => path.parent().unwrap().join(target),
            };
            let anchor = link.get(2).map(|it| it.as_str().to_owned());
            let leads = match anchor {
                Some(anchor) if file.is_file() => anchors(&prose(&file)).contains(&anchor),
                Some(_) => false,
                None => file.exists(),
            };
            followed += 1;
            if !leads {
                lost.push(format!("{}: {}", path.display(), &link[0]));
            }
        }
    }
    assert!(followed > 50, "{followed}");
    assert_eq!(lost, [""; 0]);
}

/// The book has a chapter for each page of `docs/`.
#[test]
fn the_book_has_all_pages() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let contents = std::fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    let mut found = Vec::new();
    pages(&docs, &mut found);
    let is_missing = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        !contents.contains(&format!("(docs/{name})"))
    };
    found.retain(is_missing);
    assert_eq!(found, [""; 0].map(PathBuf::from));
}
