//! Whether a run may be believed: rules kept in one table, judged from figures that the record carries.

mod rules;

pub use rules::{RULES, Rule, Worse};

use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fmt};

/// A figure that a rule is judged by, or the statement that it was not measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
#[non_exhaustive]
pub enum Figure {
    /// The figure; its unit is the rule's.
    Measured(f64),
    /// Written as `"not measured"`.
    NotMeasured(NotMeasured),
}

/// The text `"not measured"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum NotMeasured {
    /// The only value.
    #[serde(rename = "not measured")]
    NotMeasured,
}

impl Figure {
    /// A figure that is not there.
    pub const NONE: Figure = Figure::NotMeasured(NotMeasured::NotMeasured);

    /// The number, when it was measured.
    pub fn number(self) -> Option<f64> {
        match self {
            Figure::Measured(x) => Some(x),
            Figure::NotMeasured(_) => None,
        }
    }
}

impl From<Option<f64>> for Figure {
    /// A number that is not finite was not measured.
    fn from(x: Option<f64>) -> Figure {
        x.filter(|x| x.is_finite()).map_or(Figure::NONE, Figure::Measured)
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Figure::Measured(x) => write!(f, "{x:.4}"),
            Figure::NotMeasured(_) => f.write_str("not measured"),
        }
    }
}

/// Figures by the name of their rule. A rule that does not apply (lateness in a closed loop) is absent.
pub type Evidence = BTreeMap<String, Figure>;

/// How far a run may be believed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Status {
    /// No rule fired.
    #[default]
    Valid,
    /// Read the reasons before you use the numbers.
    Suspect,
    /// The numbers say more about the load generator than about the server: kept for audit, refused by averages.
    Rejected,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Status::Valid => "valid",
            Status::Suspect => "suspect",
            Status::Rejected => "rejected",
        })
    }
}

/// The judgement of one stream, or of a whole record.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct Verdict {
    /// The worst that a rule said.
    pub status: Status,
    /// One line for each rule that fired, the worst first.
    pub reasons: Vec<String>,
    /// What was found about the server while the measurement was sound ("server saturated").
    pub findings: Vec<String>,
    /// The figures by rule, so that anyone can judge again.
    pub evidence: Evidence,
}

impl Verdict {
    /// Judges evidence by the table [`RULES`]. Figures under other names are kept and not judged.
    pub fn judge(evidence: Evidence) -> Verdict {
        let mut fired: Vec<(Status, String)> = RULES
            .iter()
            .filter_map(|rule| {
                let status = rule.judge(&evidence);
                (status != Status::Valid).then(|| (status, rule.reason(status, &evidence)))
            })
            .collect();
        fired.sort_by_key(|(status, _)| std::cmp::Reverse(*status));
        Verdict {
            status: fired.first().map_or(Status::Valid, |(s, _)| *s),
            reasons: fired.into_iter().map(|(_, reason)| reason).collect(),
            findings: Vec::new(),
            evidence,
        }
    }

    /// The verdict of a record: the worst of its streams', with each reason under the stream's name. When the same
    /// thing is said of several rounds of a stream, it stands once with their number.
    pub fn worst<'a>(streams: impl IntoIterator<Item = (String, &'a Verdict)>) -> Verdict {
        let mut all = Verdict::default();
        let mut reasons: Vec<(Status, String)> = Vec::new();
        for (name, verdict) in streams {
            all.status = all.status.max(verdict.status);
            reasons.extend(verdict.reasons.iter().map(|r| (verdict.status, format!("{name}: {r}"))));
            all.findings.extend(verdict.findings.iter().map(|f| format!("{name}: {f}")));
        }
        reasons.sort_by_key(|(status, _)| std::cmp::Reverse(*status));
        all.reasons = reasons.into_iter().map(|(_, reason)| reason).collect();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(figures: &[(&str, f64)]) -> Verdict {
        Verdict::judge(figures.iter().map(|(k, v)| (k.to_string(), Figure::Measured(*v))).collect())
    }

    #[test]
    fn every_rule_has_its_bounds() {
        for (name, valid, suspect, rejected) in [
            ("in_flight", 0.9, 0.89, Some(0.79)),
            ("ceiling", 0.75, 0.76, Some(0.91)),
            ("generator_cpu", 0.8, 0.81, Some(0.96)),
            ("run_queue", 0.1, 0.11, Some(0.31)),
            ("stolen", 0.02, 0.03, Some(0.11)),
            ("concurrency_kept", 0.9, 0.89, Some(0.79)),
            ("local_limits", 0.0, 0.001, Some(0.011)),
            ("connections", 1.0, 0.99, Some(0.79)),
            ("little", 0.1, 0.11, Some(0.31)),
            ("scaling", 0.9, 0.89, None),
            ("samples", 30.0, 29.0, Some(0.0)),
            ("books", 0.0, 1.0, Some(1.0)),
        ] {
            assert_eq!(judged(&[(name, valid)]).status, Status::Valid, "{name}");
            assert_ne!(judged(&[(name, suspect)]).status, Status::Valid, "{name}");
            if let Some(rejected) = rejected {
                let verdict = judged(&[(name, rejected)]);
                assert_eq!(verdict.status, Status::Rejected, "{name}");
                assert!(verdict.reasons[0].contains(&name.replace('_', " ")), "{:?}", verdict.reasons);
            }
        }
    }

    #[test]
    fn lateness_and_loop_lag_count_only_above_their_floors() {
        assert_eq!(judged(&[("lateness", 0.6), ("lateness_p99_us", 150.0)]).status, Status::Valid);
        assert_eq!(judged(&[("lateness", 0.6), ("lateness_p99_us", 250.0)]).status, Status::Rejected);
        let lag = |share, us| judged(&[("loop_lag", share), ("loop_lag_p50_us", us)]).status;
        assert_eq!([lag(9.0, 5.0), lag(0.25, 50.0)], [Status::Valid; 2]);
        assert_eq!([lag(0.26, 50.0), lag(0.51, 50.0)], [Status::Suspect, Status::Rejected]);
    }

    #[test]
    fn what_was_not_measured_says_so_and_does_not_fire() {
        let verdict = Verdict::judge([("in_flight".to_string(), Figure::from(Some(f64::NAN)))].into());
        assert_eq!(verdict.status, Status::Valid);
        assert_eq!(serde_json::to_value(&verdict.evidence).unwrap()["in_flight"], "not measured");
        let back: Evidence = serde_json::from_str(r#"{"in_flight":"not measured","little":0.5}"#).unwrap();
        assert_eq!(Verdict::judge(back).status, Status::Rejected);
    }
}
