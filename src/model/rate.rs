//! A rate: a number of jobs per second.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// The limit of `--rate`: the maximum number of jobs that a command changes per second. It is above 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MaxRate(f64);

/// Displays a rate as `20 jobs a second`, or per minute or hour if the rate is below 1 job per second.
impl fmt::Display for MaxRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, unit) = match self.0 {
            rate if rate >= 1.0 => (rate, "a second"),
            rate if rate * 60.0 >= 1.0 => (rate * 60.0, "a minute"),
            rate => (rate * 3600.0, "an hour"),
        };
        let number = (number * 1000.0).round() / 1000.0;
        let jobs = if number == 1.0 { "job" } else { "jobs" };
        write!(f, "{number} {jobs} {unit}")
    }
}

impl MaxRate {
    pub(crate) fn time_for_jobs(self, jobs: usize) -> Duration {
        Duration::try_from_secs_f64(jobs as f64 / self.0).unwrap_or(Duration::MAX)
    }

    /// This rate divided by the number of `parts` of a command that share it.
    pub(crate) fn divided_by(self, parts: u32) -> MaxRate {
        MaxRate(self.0 / f64::from(parts.max(1)))
    }

    /// The number of jobs that this rate allows in `time`, at least 1.
    pub(crate) fn jobs_in_time(self, time: Duration) -> usize {
        ((self.0 * time.as_secs_f64()) as usize).max(1)
    }
}

impl FromStr for MaxRate {
    type Err = String;

    fn from_str(text: &str) -> Result<MaxRate, String> {
        let wants = || "a number per second, such as `20/s`, or `90/m`".to_string();
        let (number, unit) = text.split_once('/').ok_or_else(wants)?;
        let seconds = match unit {
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return Err(wants()),
        };
        let digits = |byte: u8| byte.is_ascii_digit() || byte == b'.';
        if !number.bytes().all(digits) {
            return Err(wants());
        }
        let number: f64 = number.parse().map_err(|_| wants())?;
        match number / seconds {
            // A rate below about one job per month is refused as a typing error.
            rate if rate.is_finite() && rate > 3e-7 => Ok(MaxRate(rate)),
            _ => Err(wants()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_a_number_of_jobs_per_time() {
        let rate = |text: &str| text.parse::<MaxRate>();
        assert_eq!(rate("20/s"), Ok(MaxRate(20.0)));
        assert_eq!(rate("90/m"), Ok(MaxRate(1.5)));
        assert_eq!(rate("7200/h"), Ok(MaxRate(2.0)));
        assert_eq!(rate("0.5/s"), Ok(MaxRate(0.5)));
        for nonsense in [
            "",
            "20",
            "/s",
            "0/s",
            "0.0/s",
            "-1/s",
            "+1/s",
            "1e3/s",
            "inf/s",
            "nan/s",
            "20/",
            "20/d",
            "20 /s",
            "fast",
            "1.2.3/s",
            "0.0000001/h",
            "./s",
        ] {
            assert!(rate(nonsense).is_err(), "{nonsense}");
        }
    }

    #[test]
    fn a_moment_takes_one_job_at_least() {
        let tenth = Duration::from_millis(100);
        assert_eq!(MaxRate(20.0).jobs_in_time(tenth), 2);
        assert_eq!(MaxRate(1.0).jobs_in_time(tenth), 1);
        assert_eq!(MaxRate(20.0).time_for_jobs(2), tenth);
        assert_eq!(MaxRate(20.0).to_string(), "20 jobs a second");
        assert_eq!(MaxRate(1.0 / 60.0).to_string(), "1 job a minute");
        assert_eq!(MaxRate(0.001).to_string(), "3.6 jobs an hour");
    }
}
