//! The text of INFO.

use std::collections::HashMap;

/// Fields by name. A server may have fewer than another; what is not there is `None`, never zero.
#[derive(Debug, Default)]
pub(crate) struct Info(HashMap<String, String>);

impl Info {
    pub(crate) fn parse(text: &str) -> Info {
        let fields =
            text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(':'));
        Info(fields.map(|(name, value)| (name.to_owned(), value.trim_end().to_owned())).collect())
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|text| !text.is_empty())
    }

    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        self.text(name)?.parse().ok().filter(|n: &f64| n.is_finite())
    }

    /// How far the slowest replica is behind, in bytes; `None` without replicas.
    pub(crate) fn replica_lag(&self) -> Option<f64> {
        let head = self.number("master_repl_offset")?;
        let offsets = (0..).map_while(|n| {
            let fields = self.text(&format!("slave{n}"))?;
            fields.split(',').find_map(|field| field.strip_prefix("offset="))?.parse::<f64>().ok()
        });
        offsets.reduce(f64::min).map(|slowest| (head - slowest).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# Server\r\nredis_version:7.0.15\r\n\r\n# Clients\r\nconnected_clients:3\r\n# Replication\r\n\
                        master_repl_offset:1000\r\nslave0:ip=127.0.0.1,port=1,state=online,offset=900,lag=0\r\n\
                        slave1:ip=127.0.0.1,port=2,state=online,offset=700,lag=1\r\nempty:\r\nodd:a:b\r\n";

    #[test]
    fn fields_are_found_and_what_is_not_there_is_nothing() {
        let info = Info::parse(TEXT);
        assert_eq!(info.text("redis_version"), Some("7.0.15"));
        assert_eq!(info.number("connected_clients"), Some(3.0));
        assert_eq!(info.text("odd"), Some("a:b"));
        assert_eq!((info.text("empty"), info.number("evicted_keys")), (None, None));
        assert_eq!(info.replica_lag(), Some(300.0));
        assert_eq!(Info::parse("master_repl_offset:5\r\n").replica_lag(), None);
        assert_eq!(Info::parse("").number("x"), None);
    }
}
