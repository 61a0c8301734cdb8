use super::*;
use load_core::{Readings, SourceError, VirtualTime};

/// Gives 1, 2, 3... and may hang, fail or vanish from a number on.
struct Count(u32, Then);

#[derive(Clone, Copy, PartialEq)]
enum Then {
    GoOn,
    Hang,
    Fail,
    Vanish,
    Panic,
}

impl Source for Count {
    fn origin(&self) -> String {
        format!("count {}", self.1 as u32)
    }

    fn interval(&self) -> Duration {
        Duration::from_millis(20)
    }

    async fn read(&mut self, readings: &mut Readings) -> Result<(), SourceError> {
        self.0 += 1;
        if self.0 > 2 {
            match self.1 {
                Then::GoOn => {}
                Then::Hang => std::future::pending().await,
                Then::Fail => return Err(SourceError::Failed("fell over".into())),
                Then::Vanish => return Err(SourceError::Unavailable("gone for good".into())),
                Then::Panic => panic!("a source that is broken"),
            }
        }
        readings.value(format!("count.{}", self.1 as u32), "1", f64::from(self.0));
        Ok(())
    }
}

fn points<'a>(samples: &'a Samples, name: &str) -> &'a [(u64, f64)] {
    samples.series.iter().find(|s| s.name == name).map_or(&[], |s| &s.points)
}

/// Samples until the first source was read so many times, however slow this machine is.
fn run(sources: Vec<Count>, readings: usize) -> Samples {
    let name = format!("count.{}", sources[0].1 as u32);
    let sampling = sources.into_iter().fold(Sampler::new(), Sampler::source).start(Clock::real()).unwrap();
    let from = Instant::now();
    let mut all = Samples::default();
    while points(&all, &name).len() < readings {
        assert!(from.elapsed() < Duration::from_secs(60), "no readings: {all:?}");
        std::thread::park_timeout(Duration::from_millis(10));
        all.extend(sampling.take());
    }
    let from = Instant::now();
    all.extend(sampling.stop());
    assert!(from.elapsed() < Duration::from_secs(30));
    all
}

#[test]
fn every_reading_is_there_once_in_order_and_the_end_is_covered() {
    let samples = run(vec![Count(0, Then::GoOn)], 10);
    let points = points(&samples, "count.0");
    assert!(points.windows(2).all(|w| w[0].0 < w[1].0 && w[0].1 + 1.0 == w[1].1), "{points:?}");
    assert!(points[0].0 < points[9].0);
}

#[test]
fn one_that_hangs_fails_or_panics_holds_up_no_other() {
    let bad = [Then::Hang, Then::Fail, Then::Vanish, Then::Panic].map(|then| Count(0, then));
    let samples = run([vec![Count(0, Then::GoOn)], bad.into()].into_iter().flatten().collect(), 10);
    let gaps = |then: Then| {
        let name = format!("count.{}", then as u32);
        let series = samples.series.iter().find(|s| s.name == name).unwrap();
        assert_eq!(series.points.len(), 2, "{series:?}");
        series.gaps.iter().map(|g| g.1.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(gaps(Then::Fail).iter().find(|g| !g.contains("not read in time")), Some(&"fell over"));
    assert_eq!(
        gaps(Then::Vanish).iter().filter(|g| g.contains("gone for good")).count(),
        1,
        "not asked again"
    );
    gaps(Then::Panic);
}

#[test]
fn what_cannot_be_meant_is_refused_before_anything_is_read() {
    let refused = Sampler::new().source_every(Count(0, Then::GoOn), Duration::ZERO).start(Clock::real());
    assert!(refused.unwrap_err().to_string().contains("interval: 0ns of count 0"));
    let refused = Sampler::new().source(Count(0, Then::GoOn)).start(Clock::Virtual(VirtualTime::new()));
    assert!(matches!(refused, Err(SamplerError::VirtualTime)));
}

#[test]
#[cfg(target_os = "linux")]
fn the_host_gives_its_series_and_nothing_that_is_no_number() {
    let sampling = Sampler::new().host().start(Clock::real()).unwrap();
    std::thread::park_timeout(Duration::from_millis(300));
    let samples = sampling.stop();
    for name in
        ["host.cpu.busy", "host.load.1m", "host.memory.total", "host.space.root.available", "sampler.cpu"]
    {
        assert!(!points(&samples, name).is_empty(), "{name} in {:?}", samples.series);
    }
    for series in &samples.series {
        assert!(series.points.iter().all(|p| p.1.is_finite() && p.1 >= 0.0), "{series:?}");
        assert!(series.points.len() + series.gaps.len() > 0);
    }
    let busy = points(&samples, "host.cpu.busy");
    assert!(busy.iter().all(|p| p.1 <= 1.0) && samples.cost.unwrap() < 1.0);
}
