//! Reading a threshold.

use super::{Relation, Streams, Subject, Summary, Threshold, value};
use crate::{ReportError, metric::Metric};
use load_core::Status;

/// The longer ones first, so that `<=` is not read as `<`.
const RELATIONS: [(&str, Relation); 6] = [
    ("<=", Relation::AtMost),
    (">=", Relation::AtLeast),
    ("==", Relation::Equal),
    ("!=", Relation::Unequal),
    ("<", Relation::Below),
    (">", Relation::Above),
];

impl Threshold {
    /// Reads a threshold. Names of streams are not checked: they are known only when there is a record.
    ///
    /// # Errors
    /// [`ReportError::Threshold`] with the text and what is wrong with it.
    pub fn parse(text: &str) -> Result<Threshold, ReportError> {
        let text = text.trim();
        let (subject, relation) =
            parse(text).map_err(|why| ReportError::Threshold { text: text.into(), why })?;
        Ok(Threshold { text: text.into(), subject, relation })
    }
}

fn parse(text: &str) -> Result<(Subject, Relation), String> {
    let (at, sign, relation) = RELATIONS
        .iter()
        .filter_map(|(sign, relation)| Some((text.find(sign)?, *sign, *relation)))
        .min_by_key(|(at, sign, _)| (*at, std::cmp::Reverse(sign.len())))
        .ok_or("there is none of < <= == != >= > in it")?;
    let (left, right) = (text[..at].trim(), text[at + sign.len()..].trim());
    if right.is_empty() {
        return Err(format!("nothing stands after {sign}"));
    }
    let (summary, path) = match left.strip_suffix(')').and_then(|l| l.split_once('(')) {
        None => (None, left),
        Some((name, path)) => {
            let summary = match name.trim() {
                "median" => Summary::Median,
                "min" => Summary::Min,
                "max" => Summary::Max,
                other => return Err(format!("{other} is no summary: median, min and max are")),
            };
            (Some(summary), path.trim())
        }
    };
    if path == "verdict" || path.ends_with(".verdict") {
        if summary.is_some() {
            return Err("a verdict has no median, min or max".into());
        }
        if !matches!(relation, Relation::Equal | Relation::Unequal) {
            return Err("a verdict is compared by == or !=".into());
        }
        let status = status(right)?;
        let subject = match path.strip_suffix(".verdict") {
            None => Subject::Record(status),
            Some(name) => Subject::Verdict(streams(name)?, status),
        };
        return Ok((subject, relation));
    }
    let (streams, metric) = path_of(path)?;
    let bound = value::parse(right, metric.unit())?;
    let subject = match summary {
        None => Subject::Each(streams, metric, bound),
        Some(summary) => Subject::Over(summary, streams, metric, bound),
    };
    Ok((subject, relation))
}

fn status(text: &str) -> Result<Status, String> {
    match text {
        "valid" => Ok(Status::Valid),
        "suspect" => Ok(Status::Suspect),
        "rejected" => Ok(Status::Rejected),
        other => Err(format!("{other} is no verdict: valid, suspect and rejected are")),
    }
}

/// Name and level may have dots (`api@0.5/s.response.p95`): the first dot after which a figure is named parts them.
fn path_of(path: &str) -> Result<(Streams, Metric), String> {
    for (at, _) in path.match_indices('.') {
        if let Some(metric) = Metric::named(&path[at + 1..]) {
            return Ok((streams(&path[..at])?, metric));
        }
    }
    Err(match path.split_once('.') {
        None => format!("{path:?} has no figure: NAME.response.p95, for one"),
        Some((name, rest)) => format!("{rest:?} of {name:?} is no figure that a record has"),
    })
}

fn streams(text: &str) -> Result<Streams, String> {
    let (name, level) = match text.split_once('@') {
        None => (text, None),
        Some((name, level)) => (name, Some(level.to_string())),
    };
    if name.is_empty() {
        return Err("the stream has no name; * stands for any".into());
    }
    Ok(Streams { name: name.into(), level })
}
