//! Pages on how to measure, for people.

#[doc = include_str!("../docs/open-or-closed.md")]
pub mod open_or_closed {}

#[doc = include_str!("../docs/reading-a-verdict.md")]
pub mod reading_a_verdict {}

#[cfg(test)]
mod tests {
    use crate::{RULES, Worse};

    #[test]
    fn the_page_on_verdicts_says_what_the_table_says() {
        let page = include_str!("../docs/reading-a-verdict.md");
        for rule in RULES {
            let line = page
                .lines()
                .find(|line| line.starts_with(&format!("| `{}` |", rule.name)))
                .unwrap_or_else(|| panic!("no line for {}", rule.name));
            let side = if rule.worse == Worse::Above { ">" } else { "<" };
            let rejected = rule.rejected.map_or(String::new(), |bound| format!("{side} {bound} "));
            let bounds = format!("| {side} {} | {rejected}|", rule.suspect);
            assert!(line.contains(&bounds), "{line} does not say {bounds}");
            if let Some((_, floor)) = rule.only_above {
                assert!(line.contains(&format!("{floor} µs")), "{line}");
            }
        }
    }
}
