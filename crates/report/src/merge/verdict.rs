//! The verdict of a merged stream: as bad as the worst shard.

use load_core::{Evidence, Figure, RULES, Rule, Status, Verdict, Worse};

/// Evidence that adds up over shards; of all other evidence the worst figure counts.
const SUMS: [&str; 3] = ["samples", "books", "in_flight_mean"];

pub(super) fn merge<'a>(parts: impl Iterator<Item = (usize, &'a Verdict)>) -> Verdict {
    let parts: Vec<(usize, &Verdict)> = parts.collect();
    let mut evidence = Evidence::new();
    for (name, figure) in parts.iter().flat_map(|(_, v)| &v.evidence) {
        let known = evidence.entry(name.clone()).or_insert(Figure::NONE);
        let both = known.number().zip(figure.number());
        *known = Figure::from(both.map(|(a, b)| worse(name, a, b)).or(known.number()).or(figure.number()));
    }
    let mut merged = Verdict::judge(evidence);
    for (i, v) in parts {
        // What its evidence does not say: judged by another table, or by something that is no rule.
        let beyond = v.status > Verdict::judge(v.evidence.clone()).status;
        let by_rule = |reason: &str| {
            RULES.iter().any(|r| {
                let name = r.name.replace('_', " ");
                reason.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with(':'))
            })
        };
        let said = v.reasons.iter().filter(|r| beyond || !by_rule(r));
        merged.reasons.extend(said.map(|r| format!("shard {}: {r}", i + 1)));
        if beyond {
            merged.status = merged.status.max(v.status);
        }
        merged.findings.extend(v.findings.iter().map(|f| format!("shard {}: {f}", i + 1)));
    }
    merged
}

fn worse(name: &str, a: f64, b: f64) -> f64 {
    if SUMS.contains(&name) {
        return a + b;
    }
    match Rule::named(name).map(|r| r.worse) {
        Some(Worse::Below) => a.min(b),
        _ => a.max(b),
    }
}

pub(super) fn at_least_suspect(verdict: &mut Verdict, why: String) {
    verdict.status = verdict.status.max(Status::Suspect);
    verdict.reasons.push(why);
}
