//! The commands of redis-benchmark, as it sends them: same arguments, same lengths, keys under the run's own prefix.

use super::{Command, Part};

/// Keys that are one collection have the length of redis-benchmark's, four bytes of which are the run's prefix.
const LIST: &str = "li";
const SET: &str = "s";
const HASH: &str = "ha";
const SORTED_SET: &str = "zs";
const STREAM: &str = "strm";
/// `counter:` is eight bytes: the prefix and this.
pub(crate) const COUNTER: &str = "ctr:";
/// MSET sets ten keys.
const MSET_KEYS: usize = 10;

/// The endings that names of listed collections have.
pub(crate) const COLLECTIONS: [&str; 5] = [LIST, SET, HASH, SORTED_SET, STREAM];

fn one(name: &'static str, verb: &str) -> Command {
    Command { parts: vec![Part::Literal(verb.as_bytes().to_vec())], ..Command::custom(name) }
}

fn named(name: &str) -> Part {
    Part::Name(name.to_owned())
}

impl Command {
    /// `PING` by the inline protocol.
    pub fn ping_inline() -> Command {
        Command { inline: true, ..one("ping_inline", "PING") }
    }

    /// `PING` as an array.
    pub fn ping() -> Command {
        one("ping", "PING")
    }

    /// `SET key value`.
    pub fn set() -> Command {
        one("set", "SET").key().value()
    }

    /// `GET key`.
    pub fn get() -> Command {
        one("get", "GET").key().reads_value()
    }

    /// `INCR counter`.
    pub fn incr() -> Command {
        one("incr", "INCR").with(Part::Key(COUNTER))
    }

    /// `LPUSH list value`.
    pub fn lpush() -> Command {
        one("lpush", "LPUSH").with(named(LIST)).value()
    }

    /// `RPUSH list value`.
    pub fn rpush() -> Command {
        one("rpush", "RPUSH").with(named(LIST)).value()
    }

    /// `LPOP list`.
    pub fn lpop() -> Command {
        one("lpop", "LPOP").with(named(LIST)).reads()
    }

    /// `RPOP list`.
    pub fn rpop() -> Command {
        one("rpop", "RPOP").with(named(LIST)).reads()
    }

    /// `SADD set element`.
    pub fn sadd() -> Command {
        one("sadd", "SADD").with(named(SET)).element()
    }

    /// `HSET hash element value`.
    pub fn hset() -> Command {
        one("hset", "HSET").with(named(HASH)).element().value()
    }

    /// `SPOP set`.
    pub fn spop() -> Command {
        one("spop", "SPOP").with(named(SET)).reads()
    }

    /// `ZADD sorted-set score element`.
    pub fn zadd() -> Command {
        one("zadd", "ZADD").with(named(SORTED_SET)).with(Part::Score).element()
    }

    /// `ZPOPMIN sorted-set`.
    pub fn zpopmin() -> Command {
        one("zpopmin", "ZPOPMIN").with(named(SORTED_SET)).reads()
    }

    fn lrange(name: &'static str, last: &str) -> Command {
        one(name, "LRANGE").with(named(LIST)).arg("0").arg(last).reads()
    }

    /// `LRANGE list 0 99`: the first 100 elements.
    pub fn lrange_100() -> Command {
        Command::lrange("lrange_100", "99")
    }

    /// `LRANGE list 0 299`: the first 300 elements.
    pub fn lrange_300() -> Command {
        Command::lrange("lrange_300", "299")
    }

    /// `LRANGE list 0 499`: the first 500 elements.
    pub fn lrange_500() -> Command {
        Command::lrange("lrange_500", "499")
    }

    /// `LRANGE list 0 599`: the first 600 elements.
    pub fn lrange_600() -> Command {
        Command::lrange("lrange_600", "599")
    }

    /// `MSET` of ten keys and values.
    pub fn mset() -> Command {
        (0..MSET_KEYS).fold(one("mset", "MSET"), |command, _| command.key().value())
    }

    /// `XADD stream * myfield value`.
    pub fn xadd() -> Command {
        one("xadd", "XADD").with(named(STREAM)).arg("*").arg("myfield").value()
    }

    /// All that redis-benchmark has, in its order.
    pub fn all() -> Vec<Command> {
        vec![
            Command::ping_inline(),
            Command::ping(),
            Command::set(),
            Command::get(),
            Command::incr(),
            Command::lpush(),
            Command::rpush(),
            Command::lpop(),
            Command::rpop(),
            Command::sadd(),
            Command::hset(),
            Command::spop(),
            Command::zadd(),
            Command::zpopmin(),
            Command::lrange_100(),
            Command::lrange_300(),
            Command::lrange_500(),
            Command::lrange_600(),
            Command::mset(),
            Command::xadd(),
        ]
    }

    /// One of [`all`](Command::all) by its name in lower case, such as `lrange_100`.
    pub fn by_name(name: &str) -> Option<Command> {
        Command::all().into_iter().find(|c| c.name == name)
    }
}
