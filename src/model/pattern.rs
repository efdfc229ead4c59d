//! Names as they may be typed: plain, or with `*`, `?`, `[ab]` and `{a,b}`.

use super::name::Name;

/// What a name must look like, from its first byte to its last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    typed: Name,
    /// The alternatives that braces give; none for a plain name.
    globs: Vec<Vec<u8>>,
}

/// As many alternatives as braces may give; a pattern with more is a plain name.
const ALTERNATIVES: usize = 1000;

impl Pattern {
    pub fn new(typed: Name) -> Pattern {
        let special = typed.as_bytes().iter().any(|byte| b"*?[{\\".contains(byte));
        let globs = if special {
            expand(typed.as_bytes())
        } else {
            Vec::new()
        };
        Pattern { typed, globs }
    }

    /// Returns the name, if it is one and not a glob.
    pub fn plain(&self) -> Option<&Name> {
        self.globs.is_empty().then_some(&self.typed)
    }

    pub fn matches(&self, name: &Name) -> bool {
        match self.plain() {
            Some(plain) => plain == name,
            None => self.globs.iter().any(|glob| fits(glob, name.as_bytes())),
        }
    }
}

/// Returns the alternatives without braces; none if there are too many.
fn expand(pattern: &[u8]) -> Vec<Vec<u8>> {
    let mut done = Vec::new();
    let mut open = vec![pattern.to_vec()];
    while let Some(pattern) = open.pop() {
        let Some((start, parts, end)) = braces(&pattern) else {
            done.push(pattern);
            continue;
        };
        for part in parts.iter().rev() {
            open.push([&pattern[..start], part, &pattern[end..]].concat());
        }
        if done.len() + open.len() > ALTERNATIVES {
            return Vec::new();
        }
    }
    done
}

/// Finds the first closed pair of braces: where it begins, its alternatives, where it ends.
fn braces(pattern: &[u8]) -> Option<(usize, Vec<Vec<u8>>, usize)> {
    let (mut depth, mut start, mut parts, mut at) = (0, 0, Vec::new(), 0);
    let mut part = 0;
    while let Some(&byte) = pattern.get(at) {
        match byte {
            b'\\' => at += 1,
            b'{' => {
                depth += 1;
                if depth == 1 {
                    (start, part, parts) = (at, at + 1, Vec::new());
                }
            }
            b',' if depth == 1 => {
                parts.push(pattern[part..at].to_vec());
                part = at + 1;
            }
            b'}' if depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    parts.push(pattern[part..at].to_vec());
                    return Some((start, parts, at + 1));
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Returns whether a glob without braces fits a whole name.
fn fits(glob: &[u8], name: &[u8]) -> bool {
    let (mut g, mut n) = (0, 0);
    // Where to go on after the last star if what follows it does not fit.
    let mut star: Option<(usize, usize)> = None;
    loop {
        if glob.get(g) == Some(&b'*') {
            star = Some((g + 1, n));
            g += 1;
            continue;
        }
        match (g < glob.len(), step(&glob[g..], &name[n..])) {
            (_, Some((past, taken))) => (g, n) = (g + past, n + taken),
            (false, None) if n == name.len() => return true,
            _ => match star {
                Some((after, from)) if from < name.len() => {
                    star = Some((after, from + 1));
                    (g, n) = (after, from + 1);
                }
                _ => return false,
            },
        }
    }
}

/// Fits the first element of a glob to the beginning of a name: how long each of them is.
fn step(glob: &[u8], name: &[u8]) -> Option<(usize, usize)> {
    let (&first, _) = name.split_first()?;
    match glob {
        [b'?', ..] => Some((1, letter(name))),
        [b'[', rest @ ..] => match class(rest) {
            Some((set, not, length)) => {
                (set.iter().any(|&(from, to)| (from..=to).contains(&first)) != not)
                    .then_some((length + 1, 1))
            }
            None => (first == b'[').then_some((1, 1)),
        },
        [b'\\', literal, ..] => (first == *literal).then_some((2, 1)),
        [literal, ..] => (first == *literal).then_some((1, 1)),
        [] => None,
    }
}

/// Returns how many bytes the first letter takes; a byte that is not UTF-8 is one.
fn letter(name: &[u8]) -> usize {
    let most = name.len().min(4);
    let whole = (1..=most).find(|&length| std::str::from_utf8(&name[..length]).is_ok());
    whole.unwrap_or(1)
}

type Ranges = Vec<(u8, u8)>;

/// Reads `ab]`, `a-z]` and `!ab]`: the bytes, whether all others are meant, and the length.
fn class(text: &[u8]) -> Option<(Ranges, bool, usize)> {
    let not = matches!(text.first(), Some(b'!' | b'^'));
    let begin = usize::from(not);
    let end = begin
        + 1
        + text
            .get(begin + 1..)?
            .iter()
            .position(|&byte| byte == b']')?;
    let (mut set, mut at) = (Vec::new(), begin);
    while at < end {
        if at + 2 < end && text[at + 1] == b'-' {
            set.push((text[at], text[at + 2]));
            at += 3;
        } else {
            set.push((text[at], text[at]));
            at += 1;
        }
    }
    Some((set, not, end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(pattern: &str, name: &str) -> bool {
        Pattern::new(Name::from(pattern)).matches(&Name::from(name))
    }

    #[test]
    fn a_plain_name_fits_itself() {
        assert!(fits("mail", "mail"));
        assert!(!fits("mail", "mails"));
        assert!(Pattern::new(Name::from("mail")).plain().is_some());
        assert!(Pattern::new(Name::from("m*")).plain().is_none());
    }

    #[test]
    fn globs_fit_whole_names() {
        for (pattern, name) in [
            ("*", ""),
            ("*", "anything"),
            ("m*l", "mail"),
            ("*a*a*", "banana"),
            ("m?il", "mail"),
            ("caf?", "café"),
            ("[mn]ail", "nail"),
            ("[a-c]x", "bx"),
            ("[!a]x", "bx"),
            ("failed-retries-*", "failed-retries-mail"),
            ("{mail,img}-*", "img-big"),
            ("{a,b{c,d}}e", "bde"),
            ("a\\*b", "a*b"),
            ("a[b", "a[b"),
        ] {
            assert!(fits(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [
            ("m*l", "mails"),
            ("m?il", "mil"),
            ("[mn]ail", "pail"),
            ("[!a]x", "ax"),
            ("{mail,img}", "mailimg"),
            ("a\\*b", "axb"),
            ("*a*b", "ba"),
        ] {
            assert!(!fits(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn names_are_bytes() {
        let pattern = Pattern::new(Name::from(&b"q\xff*"[..]));
        assert!(pattern.matches(&Name::from(&b"q\xff\xfe"[..])));
        assert!(Pattern::new(Name::from("q?")).matches(&Name::from(&b"q\xff"[..])));
    }

    #[test]
    fn many_stars_and_braces_end_soon() {
        assert!(!fits(&"*a".repeat(50), &"a".repeat(40)));
        assert!(!fits(&"{a,b}".repeat(50), "a"));
    }
}
