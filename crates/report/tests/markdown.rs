//! Markdown: the same figures as the text, and nothing from outside with a meaning.

mod common;

use common::*;
use report::{markdown, markdown_with, text};

#[test]
fn it_says_what_the_text_says() {
    let (md, text) = (markdown(&nginx()), text(&nginx()));
    assert!(md.starts_with("# nginx\\_static · 2026-01-01T00:00:00Z\n\n- **VALID: 3 rules checked"), "{md}");
    assert!(
        md.contains(
            "
## Closed loop: response time = service time = ended − started, in ms

| stream | round | n | succeeded/s | mean | P50 | P95 | P99 | max | errors |
|---|---|--:|--:|--:|--:|--:|--:|--:|--:|
| nginx@10 | median of 3 | 1,102 | 1,102.00 | 1.499 | 1.500 | 1.950 | 1.990 | 1.999 | 0 |
|  | lowest | 1,101 |"
        ),
        "{md}"
    );
    // Every cell of every table of the text is in the Markdown too.
    let numbers = |s: &str| {
        s.split(|c: char| !(c.is_ascii_digit() || ".,".contains(c))).map(str::to_string).collect::<Vec<_>>()
    };
    let (mut a, mut b) = (numbers(&md), numbers(&text));
    a.retain(|x| x.contains('.') && x.len() > 3);
    b.retain(|x| x.contains('.') && x.len() > 3);
    assert_eq!(a, b);
}

#[test]
fn odd_names_are_shown_literally() {
    let mut r = record("x", vec![closed("User's \"α/β\" </script><b>1|2 [a](http://b) `c` *d*", 1, 1, 100)]);
    r.experiment = "# <img src=x onerror=alert(1)>".into();
    let md = markdown(&r);
    assert!(
        md.contains("| User's \"α/β\" &lt;/script&gt;&lt;b&gt;1\\|2 \\[a\\](http://b) \\`c\\` \\*d\\*@1 |"),
        "{md}"
    );
    assert!(md.starts_with("# \\# &lt;img src=x onerror=alert(1)&gt;"), "{md}");
}

#[test]
fn thresholds_stand_after_the_verdict() {
    let md = markdown_with(&nginx(), &["nginx.response.p95 < 2ms".parse().unwrap()]);
    assert!(md.contains("\n## Thresholds\n\n- **holds: nginx.response.p95 &lt; 2ms**\n"), "{md}");
}
