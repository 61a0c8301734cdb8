//! Durations as the record gives them.

use super::RecordError;
use crate::Histogram;
use base64::{Engine, engine::general_purpose::STANDARD};
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use serde::{Deserialize, Serialize};

/// Durations in ns: exact figures, percentiles by nearest rank, and the histogram itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Distribution {
    /// How many.
    pub count: u64,
    /// Shortest, exact.
    pub min_ns: u64,
    /// Mean, exact.
    pub mean_ns: f64,
    /// Population's standard deviation.
    pub stddev_ns: f64,
    /// Longest, exact.
    pub max_ns: u64,
    /// How many were beyond the histogram's last bucket (one hour).
    #[serde(default)]
    pub out_of_range: u64,
    /// Median.
    pub p50_ns: u64,
    /// 75th percentile.
    pub p75_ns: u64,
    /// 90th percentile.
    pub p90_ns: u64,
    /// 95th percentile.
    pub p95_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// 99.9th percentile.
    pub p999_ns: u64,
    /// 99.99th percentile.
    pub p9999_ns: u64,
    /// 95 % confidence interval of the median; `null` when the sample is too small for one.
    #[serde(default)]
    pub p50_ci_ns: Option<[u64; 2]>,
    /// The same of the 95th percentile.
    #[serde(default)]
    pub p95_ci_ns: Option<[u64; 2]>,
    /// The same of the 99th percentile.
    #[serde(default)]
    pub p99_ci_ns: Option<[u64; 2]>,
    /// The same of the 99.9th percentile.
    #[serde(default)]
    pub p999_ci_ns: Option<[u64; 2]>,
    /// The histogram: HdrHistogram V2, deflated, base64.
    #[serde(default)]
    pub histogram: String,
}

impl Distribution {
    /// What a histogram says; `None` when it is empty.
    pub fn of(h: &Histogram) -> Option<Distribution> {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new()
            .serialize(h.hdr(), &mut bytes)
            .expect("a histogram of our bounds can be written");
        let p = |q| h.quantile(q);
        Some(Distribution {
            count: h.count(),
            min_ns: h.min()?,
            mean_ns: h.mean()?,
            stddev_ns: h.stddev()?,
            max_ns: h.max()?,
            out_of_range: h.out_of_range(),
            p50_ns: p(0.5)?,
            p75_ns: p(0.75)?,
            p90_ns: p(0.9)?,
            p95_ns: p(0.95)?,
            p99_ns: p(0.99)?,
            p999_ns: p(0.999)?,
            p9999_ns: p(0.9999)?,
            p50_ci_ns: h.quantile_ci(0.5),
            p95_ci_ns: h.quantile_ci(0.95),
            p99_ci_ns: h.quantile_ci(0.99),
            p999_ci_ns: h.quantile_ci(0.999),
            histogram: STANDARD.encode(bytes),
        })
    }

    /// The histogram, as it was recorded: same buckets, same exact figures (the sum as precise as the mean).
    ///
    /// # Errors
    /// When the text is no histogram.
    pub fn histogram(&self) -> Result<Histogram, RecordError> {
        let bad = |e: &dyn std::fmt::Display| {
            RecordError::Json(serde::de::Error::custom(format!(
                "histogram: not HdrHistogram V2 in base64: {e}"
            )))
        };
        let bytes = STANDARD.decode(&self.histogram).map_err(|e| bad(&e))?;
        let hdr = Deserializer::new().deserialize::<u64, _>(&mut bytes.as_slice()).map_err(|e| bad(&e))?;
        Ok(Histogram::restored(&hdr, self.min_ns, self.max_ns, self.mean_ns, self.out_of_range))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distribution_keeps_its_histogram() {
        let mut h = Histogram::new();
        for i in 1..=10_000u64 {
            h.record(i * i * 37);
        }
        let d = Distribution::of(&h).unwrap();
        let json = serde_json::to_string(&d).unwrap();
        let back: Distribution = serde_json::from_str(&json).unwrap();
        assert_eq!(back, d);
        assert_eq!(Distribution::of(&back.histogram().unwrap()).unwrap(), d);
        assert_eq!(Distribution::of(&Histogram::new()), None);
        assert!(Distribution { histogram: "!".into(), ..d }.histogram().is_err());
    }
}
