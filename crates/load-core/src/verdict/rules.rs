//! The table. Changed when evidence says so, never to make a run look good.

use super::{Evidence, Status};

/// Which side of a bound is bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Worse {
    /// The figure must not rise above the bound.
    Above,
    /// The figure must not fall below the bound.
    Below,
}

/// One rule: a figure and its bounds.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Rule {
    /// The key of its figure in the evidence.
    pub name: &'static str,
    /// Which side is bad.
    pub worse: Worse,
    /// Beyond this the run is suspect.
    pub suspect: f64,
    /// Beyond this it is rejected; `None`: never.
    pub rejected: Option<f64>,
    /// The rule counts only when this other figure of the evidence is above the number.
    pub only_above: Option<(&'static str, f64)>,
    /// What the figure is, with its unit.
    pub figure: &'static str,
    /// What it means when the rule fires.
    pub means: &'static str,
}

const fn rule(
    name: &'static str,
    worse: Worse,
    suspect: f64,
    rejected: f64,
    figure: &'static str,
    means: &'static str,
) -> Rule {
    Rule { name, worse, suspect, rejected: Some(rejected), only_above: None, figure, means }
}

use Worse::{Above, Below};

/// Every rule, in the order of the report.
pub const RULES: &[Rule] = &[
    rule(
        "in_flight",
        Below,
        0.9,
        0.8,
        "mean in flight / concurrency asked",
        "the client did not keep its requests in flight, so the server was asked less than it says",
    ),
    rule(
        "ceiling",
        Above,
        0.75,
        0.9,
        "rate / this client's rate against a null target",
        "the client was near its own limit",
    ),
    rule(
        "generator_cpu",
        Above,
        0.80,
        0.95,
        "busiest engine thread, share of a core",
        "a worker thread of the load generator was busy nearly all the time",
    ),
    rule(
        "run_queue",
        Above,
        0.10,
        0.30,
        "time an engine thread waited for a CPU / phase",
        "the load generator had to wait for a processor",
    ),
    rule(
        "stolen",
        Above,
        0.02,
        0.10,
        "stolen and throttled CPU time / phase",
        "the machine itself was held up",
    ),
    Rule {
        name: "lateness",
        worse: Above,
        suspect: 0.10,
        rejected: Some(0.50),
        only_above: Some(("lateness_p99_us", 200.0)),
        figure: "(lateness + dispatch) p99 / response p99",
        means: "operations started late because of the load generator",
    },
    Rule {
        name: "loop_lag",
        worse: Above,
        suspect: 0.25,
        rejected: Some(0.50),
        // An operation that takes no time has no time that a lag could spoil.
        only_above: Some(("loop_lag_p50_us", 10.0)),
        figure: "loop lag p50 / service p50",
        means: "ready sessions waited for their turn on the worker; that wait is in every latency",
    },
    rule(
        "concurrency_kept",
        Below,
        0.9,
        0.8,
        "rate against a null target that answers after d / (concurrency / d)",
        "this client cannot keep so many operations going at once",
    ),
    rule(
        "local_limits",
        Above,
        0.0,
        0.01,
        "operations lost to descriptors or local ports / scheduled",
        "this machine ran out of descriptors or local ports",
    ),
    rule("connections", Below, 1.0, 0.8, "sessions open / asked", "fewer sessions were open than asked"),
    rule(
        "little",
        Above,
        0.10,
        0.30,
        "|in flight - rate x response| / in flight",
        "in flight, rate and response time do not fit together",
    ),
    Rule {
        name: "scaling",
        worse: Below,
        suspect: 0.9,
        rejected: None,
        only_above: None,
        figure: "rate / best rate at a lower concurrency",
        means: "the rate fell as concurrency rose while no server resource was seen to be full",
    },
    rule("samples", Below, 30.0, 1.0, "operations in the phase", "too few operations to say anything"),
    rule(
        "books",
        Above,
        0.0,
        0.0,
        "operations that are in no account",
        "the books do not balance; please report this",
    ),
];

impl Rule {
    /// The rule of this name.
    pub fn named(name: &str) -> Option<&'static Rule> {
        RULES.iter().find(|r| r.name == name)
    }

    /// What this rule says of the evidence.
    pub fn judge(&self, evidence: &Evidence) -> Status {
        let number = |name: &str| evidence.get(name).and_then(|f| f.number());
        let Some(x) = number(self.name) else { return Status::Valid };
        if let Some((other, floor)) = self.only_above
            && number(other).is_none_or(|y| y <= floor)
        {
            return Status::Valid;
        }
        let beyond = |bound: f64| match self.worse {
            Worse::Above => x > bound,
            Worse::Below => x < bound,
        };
        if self.rejected.is_some_and(beyond) {
            Status::Rejected
        } else if beyond(self.suspect) {
            Status::Suspect
        } else {
            Status::Valid
        }
    }

    /// One line that names the rule, the figure, the bound and what it means.
    pub(super) fn reason(&self, status: Status, evidence: &Evidence) -> String {
        let x = evidence.get(self.name).and_then(|f| f.number()).unwrap_or(f64::NAN);
        let bound =
            if status == Status::Rejected { self.rejected.unwrap_or(self.suspect) } else { self.suspect };
        let side = if self.worse == Worse::Above { "above" } else { "below" };
        let name = self.name.replace('_', " ");
        format!("{name}: {} = {} ({status} {side} {bound}): {}", self.figure, short(x), self.means)
    }
}

/// Three significant digits, without an exponent.
fn short(x: f64) -> String {
    if x == 0.0 || x.fract() == 0.0 && x.abs() < 1e15 {
        return format!("{x:.0}");
    }
    let digits = (2 - x.abs().log10().floor() as i32).clamp(0, 9) as usize;
    format!("{x:.digits$}")
}
