//! The tests that `docs/security.md` names exist.

use std::fs;
use std::path::Path;

/// The sources below a folder, joined.
fn sources(folder: &Path) -> String {
    let mut joined = String::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            joined += &sources(&path);
        } else if path.extension().is_some_and(|it| it == "rs") {
            joined += &fs::read_to_string(path).unwrap();
        }
    }
    joined
}

#[test]
fn the_tests_of_the_page_on_security_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("docs/security.md")).unwrap();
    let tests = sources(&root.join("tests"));
    let rows = page.lines().filter(|line| line.starts_with("| "));
    let cells = rows.filter_map(|row| {
        let row = row.trim_end().strip_suffix('|')?;
        let cell = row.rsplit('|').next()?.trim();
        assert!(!cell.is_empty(), "no test for: {row}");
        Some(cell)
    });
    // A name of a test has more words than any other word in the last column.
    let is_name = |word: &&str| word.matches('_').count() > 2;
    let names: Vec<&str> = cells
        .flat_map(|cell| cell.split('`'))
        .filter(is_name)
        .collect();
    assert!(names.len() > 20, "{names:?}");
    for name in names {
        let function = format!("fn {name}()");
        assert!(tests.contains(&function), "no test is called `{name}`");
    }
}
