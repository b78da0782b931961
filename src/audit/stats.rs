//! Figures from the log, by server and tool. Pure.

use std::collections::BTreeMap;

use serde::Serialize;

use super::line::AuditLine;

/// Figures of one tool, or of a whole server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Default)]
#[serde(rename_all = "camelCase")]
pub struct Figures {
    /// The server.
    pub server: String,
    /// The tool's original name; absent for the server as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Calls that were sent, or tried to be.
    pub calls: u64,
    /// Calls that were denied.
    pub denials: u64,
    /// Calls that did not end well: a tool's error, not sent, unknown.
    pub errors: u64,
    /// Half of the answered calls took no longer than this, in milliseconds.
    pub p50_ms: Option<u64>,
    /// Nineteen of twenty took no longer than this, in milliseconds.
    pub p95_ms: Option<u64>,
}

#[derive(Default)]
struct Sum {
    calls: u64,
    denials: u64,
    errors: u64,
    times: Vec<u64>,
}

impl Sum {
    fn add(&mut self, line: &AuditLine) {
        if line.decision.as_deref() == Some("denied") {
            self.denials += 1;
        }
        let Some(outcome) = line.outcome.as_deref() else { return };
        match outcome {
            "ok" | "cancelled" => self.calls += 1,
            "tool error" | "unknown" | "not sent" => {
                self.calls += 1;
                self.errors += 1;
            }
            // Denied, or never a call: its arguments did not fit.
            _ => return,
        }
        if matches!(outcome, "ok" | "tool error") {
            self.times.extend(line.duration_ms);
        }
    }

    fn figures(mut self, server: &str, tool: Option<&str>) -> Figures {
        self.times.sort_unstable();
        Figures {
            server: server.to_owned(),
            tool: tool.map(str::to_owned),
            calls: self.calls,
            denials: self.denials,
            errors: self.errors,
            p50_ms: percentile(&self.times, 50),
            p95_ms: percentile(&self.times, 95),
        }
    }
}

/// The smallest value that so many of a hundred do not exceed.
fn percentile(sorted: &[u64], percent: usize) -> Option<u64> {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied()
}

/// Figures by server, and by server and tool; both sorted by name.
pub fn figures<'a>(lines: impl IntoIterator<Item = &'a AuditLine>) -> (Vec<Figures>, Vec<Figures>) {
    let mut servers: BTreeMap<&str, Sum> = BTreeMap::new();
    let mut tools: BTreeMap<(&str, &str), Sum> = BTreeMap::new();
    for line in lines.into_iter().filter(|line| line.note.is_none()) {
        servers.entry(&line.server).or_default().add(line);
        tools.entry((&line.server, &line.tool)).or_default().add(line);
    }
    (
        servers.into_iter().map(|(server, sum)| sum.figures(server, None)).collect(),
        tools.into_iter().map(|((server, tool), sum)| sum.figures(server, Some(tool))).collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(tool: &str, decision: Option<&str>, outcome: Option<&str>, ms: u64) -> AuditLine {
        AuditLine {
            server: "s".into(),
            tool: tool.into(),
            decision: decision.map(str::to_owned),
            outcome: outcome.map(str::to_owned),
            duration_ms: outcome.map(|_| ms),
            ..AuditLine::default()
        }
    }

    #[test]
    fn calls_denials_errors_and_times_are_counted() {
        let mut lines: Vec<AuditLine> =
            (1..=20).map(|n| line("t", None, Some("ok"), n * 10)).collect();
        lines.extend([
            line("t", Some("allowed"), None, 0),
            line("u", Some("denied"), None, 0),
            line("u", None, Some("denied"), 1),
            line("t", None, Some("unknown"), 99_999),
            line("t", None, Some("invalid arguments"), 1),
        ]);
        let (servers, tools) = figures(&lines);
        let t = Figures {
            server: "s".into(),
            tool: Some("t".into()),
            calls: 21,
            denials: 0,
            errors: 1,
            p50_ms: Some(100),
            p95_ms: Some(190),
        };
        assert_eq!(tools.first(), Some(&t));
        assert_eq!((tools[1].denials, tools[1].calls, tools[1].p50_ms), (1, 0, None));
        assert_eq!((servers[0].calls, servers[0].denials, servers[0].tool.clone()), (21, 1, None));
    }

    #[test]
    fn one_value_is_every_percentile() {
        assert_eq!(percentile(&[7], 50), Some(7));
        assert_eq!(percentile(&[7], 95), Some(7));
        assert_eq!(percentile(&[], 50), None);
        assert_eq!(percentile(&[1, 2], 50), Some(1));
    }
}
