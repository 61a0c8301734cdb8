//! Words.

/// Text from outside, made safe for a terminal: no control characters (an answer of a server may hold escape sequences) and
/// no marks that turn the direction of writing.
pub(crate) fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => out.push(' '),
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                out.extend(c.escape_unicode());
            }
            c if c.is_control() => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

/// `1 round`, `3 rounds`.
pub(crate) fn plural(n: u64, what: &str) -> String {
    format!("{} {what}{}", super::count(n), if n == 1 { "" } else { "s" })
}

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn list(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// Breaks a line at spaces so that no line is longer than `width` characters, the first one indented by `first` and later
/// ones by `hang`. Words are not broken, nor is a number parted from its unit.
pub(crate) fn wrap(text: &str, width: usize, first: usize, hang: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = " ".repeat(first);
    let mut used = first;
    let mut empty = true;
    for word in words(text) {
        let length = word.chars().count();
        if !empty && used + 1 + length > width {
            lines.push(std::mem::replace(&mut line, " ".repeat(hang)));
            (used, empty) = (hang, true);
        }
        if !empty {
            line.push(' ');
            used += 1;
        }
        line.push_str(&word);
        used += length;
        empty = false;
    }
    lines.push(line);
    lines
}

const UNITS: [&str; 14] =
    ["%", "ns", "µs", "ms", "s", "min", "h", "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/// The words of a text, a number together with its unit.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|w| !w.is_empty()) {
        let bare = word.trim_end_matches([',', ';', ':', '.', ')']);
        match words.last_mut() {
            Some(last) if UNITS.contains(&bare) && last.ends_with(|c: char| c.is_ascii_digit()) => {
                last.push(' ');
                last.push_str(word);
            }
            _ => words.push(word.to_string()),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_servers_answer_cannot_command_the_terminal() {
        assert_eq!(clean("a\u{1b}[31mred\nb\u{202e}"), "a\\u{1b}[31mred b\\u{202e}");
    }

    #[test]
    fn lines_are_broken_at_spaces() {
        assert_eq!(wrap("one two three four", 9, 0, 2), ["one two", "  three", "  four"]);
        assert_eq!(wrap("unbreakably", 4, 1, 2), [" unbreakably"]);
        assert_eq!(wrap("", 4, 2, 2), ["  "]);
        assert_eq!(wrap("it took 1 s; then", 9, 0, 0), ["it took", "1 s; then"]);
    }

    #[test]
    fn words() {
        assert_eq!(plural(1, "round"), "1 round");
        assert_eq!(plural(2000, "round"), "2,000 rounds");
        assert_eq!(list(&["a".into(), "b".into(), "c".into()]), "a, b and c");
    }
}
