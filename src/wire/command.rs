//! A `tools/call` as a command of this program.

use serde_json::Value;

use super::curl::whole;
use super::quote::word;
use crate::domain::exchange::{Exchange, Side};

/// The command that makes the same call; `program` is how this program was started, as shell
/// words. `Err` says why there is none.
pub fn command(exchange: &Exchange, program: &str) -> Result<String, String> {
    let (Side::Server(server), "tools/call", Some(tool)) =
        (&exchange.side, exchange.about.method.as_str(), &exchange.about.subject)
    else {
        return Err("this is no call of a tool".to_owned());
    };
    let body: Value = serde_json::from_slice(whole(&exchange.sent)?)
        .map_err(|fault| format!("the request is no JSON: {fault}"))?;
    let arguments = body.pointer("/params/arguments").filter(|value| **value != Value::Null);
    let mut out = format!("{program} call {}", word(&format!("{server}/{tool}")));
    if let Some(arguments) = arguments.map(Value::to_string).filter(|text| text != "{}") {
        out.extend([" --args ", &word(&arguments)]);
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::exchange;
    use super::*;

    #[test]
    fn a_call_becomes_a_command_with_its_arguments() {
        assert_eq!(
            command(&exchange(), "mini-me-tui").unwrap(),
            r#"mini-me-tui call docs/search --args '{"q":"it'\''s"}'"#
        );
    }

    #[test]
    fn odd_names_are_quoted_and_no_arguments_are_left_out() {
        let mut exchange = exchange();
        exchange.about.subject = Some("rm -rf $HOME".to_owned());
        exchange.sent.bytes = br#"{"params":{"arguments":{}}}"#.to_vec();
        let command = command(&exchange, "mini-me-tui --demo").unwrap();
        assert_eq!(command, "mini-me-tui --demo call 'docs/rm -rf $HOME'");
    }

    #[test]
    fn anything_else_is_no_call() {
        let mut exchange = exchange();
        exchange.about.method = "tools/list".to_owned();
        assert!(command(&exchange, "mini-me-tui").is_err());
    }
}
