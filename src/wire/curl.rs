//! An exchange's request as a `curl` command for a POSIX shell.

use super::quote::{bytes, variable, word};
use crate::domain::exchange::{Exchange, HeaderValue, Kept};
use crate::text::human;

/// Longest body that is an argument: systems bound the length of one.
const ARGUMENT: usize = 100_000;

/// The command; a secret is the variable that holds it. `Err` says why there is none.
pub fn curl(exchange: &Exchange) -> Result<String, String> {
    let body = whole(&exchange.sent)?;
    let mut parts = vec!["curl -sS -N".to_owned()];
    if exchange.url.contains(['[', ']', '{', '}']) {
        parts.push("-g".to_owned());
    }
    if exchange.verb != "GET" {
        parts.push(format!("-X {}", word(exchange.verb)));
    }
    parts.push(url(exchange));
    let mut lines = vec![parts.join(" ")];
    for header in &exchange.headers {
        lines.push(match &header.value {
            // This is how an empty one is written.
            HeaderValue::Plain(text) if text.is_empty() => {
                format!("-H {}", word(&format!("{};", header.name)))
            }
            HeaderValue::Plain(text) => format!("-H {}", word(&format!("{}: {text}", header.name))),
            HeaderValue::Secret { before, variable: name } => {
                format!("-H {}{}", word(&format!("{}: {before}", header.name)), variable(name))
            }
        });
    }
    match std::str::from_utf8(body) {
        _ if body.is_empty() => {}
        Ok(text) if text.len() <= ARGUMENT && !text.chars().any(awkward) => {
            lines.push(format!("--data-raw {}", word(text)));
        }
        _ => {
            lines.push("--data-binary @-".to_owned());
            return Ok(format!("{} |\n{}", bytes(body), lines.join(" \\\n  ")));
        }
    }
    Ok(lines.join(" \\\n  "))
}

/// What a terminal would not take as text.
fn awkward(c: char) -> bool {
    c.is_control() && c != '\n'
}

fn url(exchange: &Exchange) -> String {
    let mut out = word(&exchange.url);
    for (at, (name, value)) in exchange.query.iter().enumerate() {
        let name: String = url::form_urlencoded::byte_serialize(name.as_bytes()).collect();
        let sign = if at == 0 { '?' } else { '&' };
        out.push_str(&word(&format!("{sign}{name}=")));
        out.push_str(&match value {
            HeaderValue::Plain(text) => word(text),
            HeaderValue::Secret { variable: name, .. } => variable(name),
        });
    }
    out
}

/// The body of a request, if all of it was kept.
pub(super) fn whole(body: &Kept) -> Result<&[u8], String> {
    if body.cut == 0 {
        return Ok(&body.bytes);
    }
    let (kept, total) = (body.bytes.len() as u64, body.total);
    Err(format!("only {} of the request's {} were kept", human::bytes(kept), human::bytes(total)))
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::exchange;
    use super::*;
    use crate::domain::exchange::Header;

    #[test]
    fn a_request_becomes_a_command_with_the_variable_of_the_secret() {
        insta::assert_snapshot!(curl(&exchange()).unwrap(), @r#"
        curl -sS -N -X POST https://docs.test/mcp'?key='"$KEY" \
          -H 'authorization: Bearer '"$DOCS_TOKEN" \
          -H 'mcp-session-id: '"$MCP_SESSION_ID" \
          -H 'content-type: application/json' \
          --data-raw '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"search","arguments":{"q":"it'\''s"}}}'
        "#);
    }

    #[cfg(unix)]
    #[test]
    fn a_shell_hands_curl_exactly_what_was_sent() {
        let mut exchange = exchange();
        exchange.headers.push(Header {
            name: "x-odd".to_owned(),
            value: HeaderValue::Plain("a 'b' \"$HOME\" `id` \\ !".to_owned()),
        });
        for body in [
            &b"{\"a\":\"$HOME `id` 'x' \\\\ % \xc3\xa9\"}"[..],
            b"\x00\xff' %s \\n \x1b[31m",
            b"",
            &b"x".repeat(200_000),
        ] {
            exchange.sent.bytes = body.to_vec();
            let fake = "curl() { for a in \"$@\"; do printf '<%s>' \"$a\"; done; \
                        case \"$*\" in *@-) cat;; esac; }";
            let script = format!("{fake}\nDOCS_TOKEN='t o k'\n{}\n", curl(&exchange).unwrap());
            let mut shell = std::process::Command::new("sh");
            let mut ran = shell
                .stdin(std::process::Stdio::piped())
                .stdout(std::process::Stdio::piped())
                .spawn()
                .unwrap();
            std::io::Write::write_all(&mut ran.stdin.take().unwrap(), script.as_bytes()).unwrap();
            let out = ran.wait_with_output().unwrap();
            assert!(out.status.success());
            let has = |part: &[u8]| memchr::memmem::find(&out.stdout, part).is_some();
            assert!(has(b"<authorization: Bearer t o k>"));
            assert!(has(b"<x-odd: a 'b' \"$HOME\" `id` \\ !>"));
            assert!(has(body));
            assert_eq!(has(b"<@->"), body.len() > 100_000 || body.contains(&0));
        }
    }

    #[test]
    fn a_body_that_was_cut_makes_no_command() {
        let mut exchange = exchange();
        (exchange.sent.total, exchange.sent.cut) = (5_000, 4_900);
        assert!(curl(&exchange).unwrap_err().contains("5 kB"));
    }
}
