//! How `exec` ends: the exit code by cause. Pure.
//!
//! What a tool or server got wrong and the model mended by a later call is no cause.

use std::collections::BTreeMap;

use crate::cmd::Exit;
use crate::domain::{Call, Outcome, TurnEnd};

/// What stayed wrong with a tool after its last call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Trouble {
    /// Its server could not be reached: nothing was sent.
    NotSent,
    /// It may have run or not.
    Unknown,
    /// It said that it failed.
    ToolError,
}

/// What the exit code is made of.
#[derive(Debug, Default)]
pub(super) struct Ending {
    denied: Option<String>,
    /// By tool, as `server/tool`.
    troubles: BTreeMap<String, Trouble>,
}

impl Ending {
    /// A call came to its end.
    pub(super) fn call(&mut self, call: &Call, outcome: &Outcome) {
        let tool = call.tool.to_string();
        let trouble = match outcome {
            Outcome::Ok(_) => {
                self.troubles.remove(&tool);
                return;
            }
            Outcome::Denied(_) => {
                self.denied.get_or_insert(tool);
                return;
            }
            Outcome::NotSent { .. } => Trouble::NotSent,
            Outcome::Unknown { .. } => Trouble::Unknown,
            Outcome::ToolError(_) => Trouble::ToolError,
            // The model's own mistake, and the user's own wish.
            Outcome::InvalidArguments { .. } | Outcome::Cancelled { .. } => return,
        };
        self.troubles.insert(tool, trouble);
    }

    /// The exit code, and why it is not 0 although the model came to its end.
    pub(super) fn of(&self, reason: &TurnEnd) -> (Exit, String) {
        let exit = match reason {
            TurnEnd::Done => return self.of_a_whole_turn(),
            TurnEnd::Failed { unreachable: true, .. } => Exit::NoModel,
            TurnEnd::Cancelled => Exit::Interrupted,
            TurnEnd::Length
            | TurnEnd::ContentFilter
            | TurnEnd::Refused
            | TurnEnd::Empty
            | TurnEnd::Incomplete { .. }
            | TurnEnd::Stopped
            | TurnEnd::Failed { .. } => Exit::Failed,
        };
        (exit, String::new())
    }

    fn of_a_whole_turn(&self) -> (Exit, String) {
        if self.denied.is_some() {
            // Said with the call.
            return (Exit::Denied, String::new());
        }
        let worst = self.troubles.iter().min_by_key(|(_, trouble)| **trouble);
        match worst {
            None => (Exit::Done, String::new()),
            Some((tool, Trouble::NotSent)) => {
                (Exit::NoServer, format!("{tool} could not be called: its server is unavailable"))
            }
            Some((tool, Trouble::Unknown)) => {
                (Exit::Failed, format!("it is not known whether {tool} ran"))
            }
            Some((tool, Trouble::ToolError)) => {
                (Exit::ToolError, format!("the last call of {tool} ended with an error"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::domain::{CallId, DeniedBy, ToolId, ToolOutput};

    fn call(tool: &str) -> Call {
        Call {
            id: CallId(1),
            turn: None,
            tool: ToolId::new("s", tool),
            model_name: "s_t".into(),
            arguments: Arc::default(),
        }
    }

    fn after(calls: &[(&str, Outcome)]) -> (Exit, String) {
        let mut ending = Ending::default();
        for (tool, outcome) in calls {
            ending.call(&call(tool), outcome);
        }
        ending.of(&TurnEnd::Done)
    }

    fn ok() -> Outcome {
        Outcome::Ok(ToolOutput::default())
    }

    fn error() -> Outcome {
        Outcome::ToolError(ToolOutput::default())
    }

    #[test]
    fn an_error_that_a_later_call_mended_is_no_cause() {
        assert_eq!(after(&[("a", error()), ("a", ok())]).0, Exit::Done);
        assert_eq!(after(&[("a", error()), ("b", ok())]).0, Exit::ToolError);
        assert_eq!(after(&[("a", ok()), ("a", error())]).0, Exit::ToolError);
    }

    #[test]
    fn a_denial_is_named_before_a_server_and_that_before_a_tool() {
        let denied = || Outcome::Denied(DeniedBy::Rule { rule: "r".to_owned() });
        let not_sent = || Outcome::NotSent { reason: "down".to_owned() };
        assert_eq!(after(&[("a", error()), ("b", denied()), ("c", not_sent())]).0, Exit::Denied);
        let (exit, why) = after(&[("a", error()), ("c", not_sent())]);
        assert_eq!(exit, Exit::NoServer);
        assert!(why.contains("s/c"), "{why}");
        let unknown = Outcome::Unknown { reason: "cut".to_owned() };
        assert_eq!(after(&[("a", unknown), ("b", error())]).0, Exit::Failed);
    }

    #[test]
    fn a_turn_that_did_not_come_to_its_end_has_its_own_cause() {
        let mut ending = Ending::default();
        ending.call(&call("a"), &error());
        let failed = |unreachable| TurnEnd::Failed { reason: String::new(), unreachable };
        assert_eq!(ending.of(&failed(true)).0, Exit::NoModel);
        assert_eq!(ending.of(&failed(false)).0, Exit::Failed);
        assert_eq!(ending.of(&TurnEnd::Cancelled).0, Exit::Interrupted);
        assert_eq!(ending.of(&TurnEnd::Length).0, Exit::Failed);
    }
}
