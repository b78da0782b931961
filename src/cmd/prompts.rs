//! `prompts list|get`: messages that servers have ready for their users.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::inquire::{self, Answers, Asker, brief};
use super::output::{self, Cell, Mark, Paint};
use super::{Exit, Stop, call, json};
use crate::cli::{self, Common};
use crate::domain::{Found, Inquiry, Prompt, PromptText, ServerName, Warning};
use crate::text;

/// Runs the command.
pub async fn run(common: &Common, what: &cli::Prompts) -> Result<Exit, Stop> {
    match what {
        cli::Prompts::List(form) => {
            let server = form.server.as_deref();
            inquire::run(common, server, async |asker, only| list(asker, only, form.json).await)
                .await
        }
        cli::Prompts::Get(get) => {
            let given = get.arguments.iter().map(|word| inquire::pair(word));
            let given = given.collect::<Result<BTreeMap<_, _>, _>>()?;
            let server = get.from.server.as_deref();
            inquire::run(common, server, async |asker, only| {
                self::get(asker, only, &get.name, given, get.from.json).await
            })
            .await
        }
    }
}

async fn list(asker: &mut Asker, only: Option<&ServerName>, as_json: bool) -> Result<Exit, Stop> {
    let answers = inquire::ask_all(asker, only, &[Inquiry::Prompts]).await?;
    let offer = Offer::of(&answers);
    let shown =
        if as_json { json::line(&offer.json(&answers)) } else { offer.render(Paint::for_stdout()) };
    output::print(&shown)?;
    answers.complain();
    Ok(answers.exit(only))
}

/// All prompts that are on offer.
#[derive(Default)]
struct Offer<'a> {
    prompts: Vec<(&'a ServerName, &'a Prompt)>,
    warnings: Vec<Warning>,
}

impl<'a> Offer<'a> {
    fn of(answers: &'a Answers) -> Self {
        let mut offer = Self::default();
        for (server, found) in &answers.found {
            if let Found::Prompts(listing) = found {
                offer.prompts.extend(listing.items.iter().map(|item| (server, item)));
                offer.warnings.extend(inquire::warnings(server, listing));
            }
        }
        offer
    }

    fn json(&self, answers: &Answers) -> Value {
        let prompts = self.prompts.iter().map(|(server, prompt)| {
            let arguments = prompt.arguments.iter().map(|argument| {
                json!({
                    "name": argument.name, "title": argument.title,
                    "description": argument.description, "required": argument.required,
                })
            });
            json!({
                "server": server, "name": prompt.name, "title": prompt.title,
                "description": prompt.description, "arguments": arguments.collect::<Vec<_>>(),
            })
        });
        json!({
            "prompts": prompts.collect::<Vec<_>>(),
            "failed": json::failed(&answers.failed),
            "warnings": self.warnings.iter().map(json::warning).collect::<Vec<_>>(),
        })
    }

    fn render(&self, paint: Paint) -> String {
        let mut out = String::new();
        if self.prompts.is_empty() {
            out.push_str("No prompts.\n");
        } else {
            let rows: Vec<Vec<Cell>> =
                self.prompts.iter().map(|(server, prompt)| row(server, prompt)).collect();
            let heading = ["SERVER", "PROMPT", "ARGUMENTS", "DESCRIPTION"];
            out.push_str(&output::table(paint, &heading, &rows));
        }
        out.push_str(&inquire::shown(&self.warnings, paint));
        out
    }

    /// Which prompt a word means: `server/prompt`, or a name that only one server has.
    fn meant(&self, word: &str) -> Result<(&'a ServerName, &'a Prompt), Stop> {
        let whole = |server: &ServerName, prompt: &Prompt| format!("{server}/{}", prompt.name);
        let fits = |(server, prompt): &&(&ServerName, &Prompt)| {
            prompt.name == word || whole(server, prompt) == word
        };
        let found: Vec<_> = self.prompts.iter().filter(fits).collect();
        match found.as_slice() {
            [one] => Ok(**one),
            [] => {
                let names: Vec<String> = self.prompts.iter().map(|(s, p)| whole(s, p)).collect();
                let short = self.prompts.iter().map(|(_, prompt)| prompt.name.as_str());
                let near = text::nearest(word, short.chain(names.iter().map(String::as_str)));
                let near = near.map_or_else(String::new, |near| format!(" Did you mean {near}?"));
                Err(Stop::usage(format!(
                    "there is no prompt {word}.{near} `mini-me-tui prompts list` lists all."
                )))
            }
            several => {
                let names: Vec<String> = several.iter().map(|(s, p)| whole(s, p)).collect();
                let names = names.join(" or ");
                Err(Stop::usage(format!(
                    "several servers have a prompt {word}: say which, {names}."
                )))
            }
        }
    }
}

fn row(server: &ServerName, prompt: &Prompt) -> Vec<Cell> {
    let arguments = prompt.arguments.iter().map(|argument| {
        let name = text::strict_line(&argument.name);
        if argument.required { name.into_string() } else { format!("[{name}]") }
    });
    let label = if prompt.description.is_empty() {
        prompt.title.as_deref().unwrap_or_default()
    } else {
        &prompt.description
    };
    vec![
        text::strict_line(server.as_str()).into(),
        Cell::new(text::strict_line(&prompt.name).into_string(), Mark::Strong),
        Cell::plain(arguments.collect::<Vec<_>>().join(" ")),
        Cell::plain(brief(label)),
    ]
}

async fn get(
    asker: &mut Asker,
    only: Option<&ServerName>,
    word: &str,
    given: BTreeMap<String, String>,
    as_json: bool,
) -> Result<Exit, Stop> {
    let answers = inquire::ask_all(asker, only, &[Inquiry::Prompts]).await?;
    let offer = Offer::of(&answers);
    let (server, prompt) = match offer.meant(word) {
        Ok(found) => found,
        Err(stop) => {
            // A server that could not be asked may be the one that has it.
            answers.complain();
            let exit = answers.exit(only);
            return if exit == Exit::Done { Err(stop) } else { Ok(exit) };
        }
    };
    fitting(prompt, &given)?;
    let what = Inquiry::Prompt { name: prompt.name.clone(), arguments: given };
    let Found::Prompt(made) = inquire::ask_one(asker, server, what).await? else {
        return Err(inquire::ended());
    };
    let shown =
        if as_json { json::line(&shape(server, &prompt.name, &made)) } else { render(&made) };
    output::print(&shown)?;
    Ok(Exit::Done)
}

/// Whether the prompt knows all that it is given, and is given all that it needs.
fn fitting(prompt: &Prompt, given: &BTreeMap<String, String>) -> Result<(), Stop> {
    let names = || prompt.arguments.iter().map(|argument| argument.name.as_str());
    if let Some(key) = given.keys().find(|key| !names().any(|name| name == *key)) {
        let known = if prompt.arguments.is_empty() {
            "it takes none".to_owned()
        } else {
            format!("it takes: {}", names().collect::<Vec<_>>().join(", "))
        };
        return Err(Stop::usage(format!(
            "{key} is no argument of the prompt {}; {known}.",
            prompt.name
        )));
    }
    let needed = prompt.arguments.iter().filter(|argument| argument.required);
    let missing: Vec<String> = needed
        .filter(|argument| !given.contains_key(&argument.name))
        .map(|argument| format!("{}=…", argument.name))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(Stop::usage(format!("the prompt {} needs {} too.", prompt.name, missing.join(" "))))
}

fn shape(server: &ServerName, name: &str, made: &PromptText) -> Value {
    let messages = made
        .messages
        .iter()
        .map(|message| json!({ "role": message.role, "content": json::content(&message.content) }));
    json!({
        "server": server,
        "name": name,
        "description": made.description,
        "messages": messages.collect::<Vec<_>>(),
    })
}

/// For people: each message under its role.
fn render(made: &PromptText) -> String {
    let mut parts = Vec::new();
    for message in &made.messages {
        let role = text::strict_line(&message.role);
        let content = text::block(&call::part(&message.content)).into_string();
        parts.push(format!("{role}:\n{}\n", content.trim_end_matches('\n')));
    }
    if parts.is_empty() { "(the prompt is empty)\n".to_owned() } else { parts.join("\n") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Content, Listing, PromptArgument, PromptMessage};

    fn prompt(name: &str, arguments: &[(&str, bool)]) -> Prompt {
        let arguments = arguments.iter().map(|(name, required)| PromptArgument {
            name: (*name).to_owned(),
            title: None,
            description: String::new(),
            required: *required,
        });
        Prompt {
            name: name.to_owned(),
            title: None,
            description: "Does it".to_owned(),
            arguments: arguments.collect(),
        }
    }

    fn answers(offers: &[(&str, Prompt)]) -> Answers {
        let found = offers.iter().map(|(server, prompt)| {
            let listing = Listing { items: vec![prompt.clone()], remarks: Vec::new() };
            ((*server).into(), Found::Prompts(listing))
        });
        Answers { found: found.collect(), ..Answers::default() }
    }

    #[test]
    fn table_marks_what_may_be_left_out() {
        let answers = answers(&[("bugs", prompt("triage", &[("task", true), ("tone", false)]))]);
        insta::assert_snapshot!(Offer::of(&answers).render(Paint::Plain), @r"
        SERVER  PROMPT  ARGUMENTS    DESCRIPTION
        bugs    triage  task [tone]  Does it
        ");
    }

    #[test]
    fn a_prompt_is_found_by_name_or_with_its_server_and_is_not_guessed() {
        let answers =
            answers(&[("a", prompt("p", &[])), ("b", prompt("p", &[])), ("b", prompt("q", &[]))]);
        let offer = Offer::of(&answers);
        let found = |word: &str| offer.meant(word).map(|(server, _)| server.to_string());
        assert_eq!(found("q").unwrap(), "b");
        assert_eq!(found("b/p").unwrap(), "b");
        assert!(found("p").unwrap_err().message.contains("a/p or b/p"));
        assert_eq!(found("nothing").unwrap_err().exit, Exit::Usage);
    }

    #[test]
    fn what_is_missing_or_not_known_is_named() {
        let prompt = prompt("p", &[("task", true), ("tone", false)]);
        let given = |key: &str| BTreeMap::from([(key.to_owned(), "x".to_owned())]);
        assert!(fitting(&prompt, &given("task")).is_ok());
        assert!(fitting(&prompt, &given("tone")).unwrap_err().message.contains("needs task=…"));
        let stop = fitting(&prompt, &given("tsk")).unwrap_err();
        assert!(stop.message.contains("it takes: task, tone"), "{stop}");
    }

    #[test]
    fn messages_stand_under_their_roles_and_cannot_steer_the_terminal() {
        let message = |role: &str, text: &str| PromptMessage {
            role: role.to_owned(),
            content: Content::Text(text.to_owned()),
        };
        let messages = vec![message("user", "a\u{1b}[2J\n"), message("assistant", "b")];
        let shown = render(&PromptText { description: String::new(), messages });
        assert!(!shown.contains('\u{1b}'));
        assert!(shown.starts_with("user:\na") && shown.ends_with("\n\nassistant:\nb\n"), "{shown}");
    }
}
