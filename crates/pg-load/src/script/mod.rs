//! Lists of statements with random parameters, as pgbench's scripts are.

mod builtin;
mod draw;
mod statement;
mod value;

pub use draw::Draw;
pub(crate) use statement::{Role, Statement};
pub(crate) use value::Int;

use load_core::{ConfigError, MAX_STEPS};
use rand::Rng;

/// Steps that are kept for other things than statements.
const OTHER_STEPS: usize = 3;

/// One transaction's worth of statements, executed in order as one operation.
///
/// Variables are drawn once for each operation and stay the same when it is tried again. In the statements `:name` stands
/// for a variable, outside of quotes and comments.
///
/// ```
/// use pg_load::{Draw, Script};
/// let script = Script::new("transfer")
///     .variable("from", Draw::uniform(1, 100_000)?)?
///     .variable("to", Draw::zipfian(1, 100_000, 1.1)?)?
///     .statement("begin", "BEGIN")?
///     .statement("take", "UPDATE pgbench_accounts SET abalance = abalance - 1 WHERE aid = :from")?.rows(1)
///     .statement("give", "UPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid = :to")?.rows(1)
///     .statement("commit", "COMMIT")?;
/// # Ok::<(), load_core::ConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    pub(crate) name: String,
    variables: Vec<String>,
    draws: Vec<Draw>,
    pub(crate) statements: Vec<Statement>,
    /// The scale of pgbench's data that it works on, and whether all of its transactions meet at the branches.
    pub(crate) data: Option<(u32, bool)>,
}

impl Script {
    /// An empty one.
    pub fn new(name: impl Into<String>) -> Script {
        Script { name: name.into(), variables: vec![], draws: vec![], statements: vec![], data: None }
    }

    /// Adds a variable.
    ///
    /// # Errors
    /// When the name is no word of letters, digits and `_`, or taken.
    pub fn variable(mut self, name: impl Into<String>, draw: Draw) -> Result<Script, ConfigError> {
        let name = name.into();
        let good = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            && name.bytes().next().is_some_and(|b| !b.is_ascii_digit());
        if !good {
            return Err(ConfigError::invalid(
                "variable",
                name,
                "a name is letters, digits and _, and begins with no digit",
            ));
        }
        if self.variables.contains(&name) {
            return Err(ConfigError::invalid("variable", name, "there is one of this name"));
        }
        self.variables.push(name);
        self.draws.push(draw);
        Ok(self)
    }

    /// Adds a statement; `name` is the name of its step in the record.
    ///
    /// # Errors
    /// When it names a variable that is not there, or is empty.
    pub fn statement(mut self, name: &'static str, sql: &str) -> Result<Script, ConfigError> {
        self.statements.push(Statement::parse(name, sql, &self.variables)?);
        Ok(self)
    }

    /// The last statement must give or change so many rows; else the operation fails with class `check` and is rolled
    /// back.
    pub fn rows(mut self, rows: u64) -> Script {
        if let Some(last) = self.statements.last_mut() {
            last.rows = Some(rows);
        }
        self
    }

    /// Checks what can only be seen of the whole.
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        if self.statements.is_empty() {
            return Err(ConfigError::invalid("script", &self.name, "it has no statement"));
        }
        let mut open = false;
        for statement in &self.statements {
            let wrong = |why| {
                Err(ConfigError::invalid(format!("statement {:?}", statement.name), &statement.sql, why))
            };
            match (statement.role, open) {
                (Role::Begin, true) => return wrong("a transaction is open already"),
                (Role::End, false) => return wrong("no transaction is open"),
                (Role::Begin, false) => open = true,
                (Role::End, true) => open = false,
                (Role::Other, _) => {}
            }
        }
        if open {
            return Err(ConfigError::invalid("script", &self.name, "it leaves a transaction open"));
        }
        Ok(())
    }

    /// Whether it is a single transaction, so that it can be tried again as a whole.
    pub(crate) fn is_one_transaction(&self) -> bool {
        let begins = self.statements.iter().filter(|s| s.role == Role::Begin).count();
        let (first, last) = (self.statements.first(), self.statements.last());
        self.statements.len() == 1
            || begins == 1
                && first.is_some_and(|s| s.role == Role::Begin)
                && last.is_some_and(|s| s.role == Role::End)
    }

    /// Whether there is room for a step for each statement.
    pub(crate) fn has_room_for_steps(&self) -> bool {
        self.statements.len() <= MAX_STEPS - OTHER_STEPS
    }

    pub(crate) fn variable_name(&self, variable: usize) -> &str {
        &self.variables[variable]
    }

    /// Draws all variables anew.
    pub(crate) fn draw(&self, rng: &mut impl Rng, values: &mut Vec<Int>) {
        values.clear();
        values.extend(self.draws.iter().map(|draw| Int(draw.draw(rng))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(statements: &[&'static str]) -> Script {
        statements.iter().fold(Script::new("x"), |s, sql| s.statement("s", sql).unwrap())
    }

    #[test]
    fn transactions_must_be_whole() {
        for good in [&["SELECT 1"][..], &["BEGIN", "SELECT 1", "END"], &["BEGIN", "ROLLBACK", "SELECT 1"]] {
            script(good).validate().unwrap();
        }
        for (bad, why) in [
            (&["BEGIN", "SELECT 1"][..], "leaves a transaction open"),
            (&["COMMIT"], "no transaction is open"),
            (&["BEGIN", "BEGIN", "END"], "open already"),
            (&[], "no statement"),
        ] {
            let error = script(bad).validate().unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
        assert!(script(&["BEGIN", "SELECT 1", "END"]).is_one_transaction());
        assert!(!script(&["BEGIN", "END", "SELECT 1"]).is_one_transaction());
        assert!(!script(&["BEGIN", "END", "BEGIN", "END"]).is_one_transaction());
    }

    #[test]
    fn names_of_variables_are_words_and_unique() {
        let draw = Draw::uniform(1, 2).unwrap();
        for bad in ["", "1a", "a-b", "ä"] {
            assert!(Script::new("x").variable(bad, draw).is_err(), "{bad}");
        }
        assert!(Script::new("x").variable("a", draw).unwrap().variable("a", draw).is_err());
    }
}
