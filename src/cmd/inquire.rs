//! What the commands about resources and prompts share: start, ask one server or all, sort what
//! came back.

use std::sync::Arc;

use super::headless::{Headless, interrupted};
use super::launch::Launch;
use super::output::{self, Paint};
use super::questions::{self, Answerer};
use super::{Exit, Stop, resolve, tools};
use crate::bridge::{Notice, Op};
use crate::cli::Common;
use crate::domain::{
    Found, Inquiry, InquiryFault, InquiryFaultKind, InquiryId, Interaction, Listing, ServerName,
    ServerState, Source, Warning,
};
use crate::text;

/// Runs `job` once discovery has settled, or until Ctrl-C. Only this server is connected, if one is
/// named.
pub(super) async fn run(
    common: &Common,
    server: Option<&str>,
    job: impl AsyncFnOnce(&mut Asker, Option<&ServerName>) -> Result<Exit, Stop>,
) -> Result<Exit, Stop> {
    let answerer = Answerer::new(questions::given(&[], false)?);
    let mut launch = Launch::prepare(common, Interaction::Headless)?;
    launch.setup.answering = answerer.answering();
    let only = server.map(ServerName::from);
    launch.setup.only = only.clone().map(|name| vec![name]);
    let services = launch.accompaniment();
    Launch::accompany(services, async {
        let mut asker = Asker { program: Headless::start(&launch), answerer };
        let working = async {
            tools::known(&asker.program.catalog, only.as_ref())?;
            asker.program.settle(only.as_ref()).await;
            job(&mut asker, only.as_ref()).await
        };
        let ended = tokio::select! {
            ended = working => ended,
            () = interrupted() => Ok(Exit::Interrupted),
        };
        asker.program.end().await;
        ended
    })
    .await
}

/// A running program, and whoever answers what servers ask in return.
pub(super) struct Asker {
    pub(super) program: Headless,
    answerer: Answerer,
}

/// What several servers answered.
#[derive(Debug, Default)]
pub(super) struct Answers {
    /// In the order of the servers.
    pub(super) found: Vec<(ServerName, Found)>,
    /// Servers that gave no answer, and why.
    pub(super) failed: Vec<(ServerName, InquiryFault)>,
    /// Whether any server was there to be asked.
    pub(super) asked: bool,
}

impl Answers {
    /// How the command ends: it failed where nobody answered.
    pub(super) fn exit(&self, only: Option<&ServerName>) -> Exit {
        match self.failed.first() {
            Some((_, fault)) if only.is_some() || !self.asked => exit(fault.kind),
            _ => Exit::Done,
        }
    }

    /// Says on standard error who did not answer.
    pub(super) fn complain(&self) {
        for (server, fault) in &self.failed {
            output::complain(&format!("{server}: {fault}"));
        }
    }
}

/// Asks this server, or every one that is not switched off. Servers that have nothing of the kind
/// are passed over where all are asked.
pub(super) async fn ask_all(
    asker: &mut Asker,
    only: Option<&ServerName>,
    what: &[Inquiry],
) -> Result<Answers, Stop> {
    let mut answers = Answers::default();
    let mut questions = Vec::new();
    for server in &asker.program.catalog.servers {
        if only.is_some_and(|name| server.name != *name) {
            continue;
        }
        if server.state.usable() {
            let each = what.iter().map(|inquiry| (server.name.clone(), inquiry.clone()));
            questions.extend(each);
        } else if only.is_some() || !matches!(server.state, ServerState::Disabled { .. }) {
            let message = resolve::unavailable(server).message;
            let fault = InquiryFault { kind: InquiryFaultKind::Unavailable, message };
            answers.failed.push((server.name.clone(), fault));
        }
    }
    let given = ask(asker, &questions).await?;
    for ((server, _), answer) in questions.into_iter().zip(given) {
        match answer.as_ref() {
            Ok(found) => {
                answers.asked = true;
                answers.found.push((server, found.clone()));
            }
            Err(fault) if only.is_none() && fault.kind == InquiryFaultKind::Unsupported => {
                answers.asked = true;
            }
            // One word about a server is enough.
            Err(_) if answers.failed.iter().any(|(known, _)| *known == server) => {}
            Err(fault) => answers.failed.push((server, fault.clone())),
        }
    }
    Ok(answers)
}

/// Asks one server.
pub(super) async fn ask_one(
    asker: &mut Asker,
    server: &ServerName,
    what: Inquiry,
) -> Result<Found, Stop> {
    if let Some(known) = asker.program.catalog.server(server).filter(|known| !known.state.usable())
    {
        return Err(resolve::unavailable(known));
    }
    let answer = ask(asker, &[(server.clone(), what)]).await?;
    match answer.first().map(AsRef::as_ref) {
        Some(Ok(found)) => Ok(found.clone()),
        Some(Err(fault)) => Err(Stop::new(exit(fault.kind), format!("{server}: {fault}"))),
        None => Err(ended()),
    }
}

type Answer = Arc<Result<Found, InquiryFault>>;

/// Asks side by side; the answers come in the order of the questions.
async fn ask(asker: &mut Asker, questions: &[(ServerName, Inquiry)]) -> Result<Vec<Answer>, Stop> {
    let Asker { program, answerer } = asker;
    for (number, (server, what)) in (0..).zip(questions) {
        let inquiry = InquiryId(number);
        program.send(Op::Inquire { inquiry, server: server.clone(), what: what.clone() }).await?;
    }
    let mut answers: Vec<Option<Answer>> = vec![None; questions.len()];
    while answers.iter().any(Option::is_none) {
        let notice = tokio::select! {
            notice = program.next() => notice.ok_or_else(ended)?,
            reply = answerer.typed() => {
                program.send(reply).await?;
                continue;
            }
        };
        if let Some(reply) = answerer.hear(&notice) {
            program.send(reply).await?;
        }
        if let Notice::Inquired { inquiry, answer } = notice {
            let place = usize::try_from(inquiry.0).ok().and_then(|at| answers.get_mut(at));
            if let Some(place) = place {
                place.get_or_insert(answer);
            }
        }
    }
    Ok(answers.into_iter().flatten().collect())
}

/// The runtime is gone, or says what was not asked.
pub(super) fn ended() -> Stop {
    Stop::new(Exit::Failed, "the program's own runtime has ended before the answer")
}

fn exit(kind: InquiryFaultKind) -> Exit {
    match kind {
        InquiryFaultKind::Unsupported | InquiryFaultKind::NotFound | InquiryFaultKind::Refused => {
            Exit::Failed
        }
        InquiryFaultKind::Unavailable => Exit::NoServer,
        InquiryFaultKind::Cancelled => Exit::Interrupted,
    }
}

/// Remarks on a list as warnings about its server.
pub(super) fn warnings<T>(server: &ServerName, listing: &Listing<T>) -> Vec<Warning> {
    let source = || Source::Server(server.clone());
    listing.remarks.iter().map(|remark| Warning::new(source(), format!("{remark}."), "")).collect()
}

/// Warnings as lines for people.
pub(super) fn shown(warnings: &[Warning], paint: Paint) -> String {
    warnings.iter().map(|warning| output::warning(paint, warning)).collect()
}

/// A text from outside in one line of a table, cut where it is long.
pub(super) fn brief(text: &str) -> String {
    let line = text::line(text).into_string();
    text::cut(&line, 60)
}

/// `KEY=VALUE` as it stands.
pub(super) fn pair(word: &str) -> Result<(String, String), Stop> {
    let split = word.split_once('=').filter(|(key, _)| !key.is_empty());
    let (key, value) =
        split.ok_or_else(|| Stop::usage(format!("`{word}` is no argument: write KEY=VALUE.")))?;
    Ok((key.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(asked: bool, kind: InquiryFaultKind) -> Answers {
        let fault = InquiryFault { kind, message: String::new() };
        Answers { found: Vec::new(), failed: vec![("s".into(), fault)], asked }
    }

    #[test]
    fn one_of_many_that_fails_is_no_failure_and_the_one_that_was_asked_for_is() {
        let failed = answers(true, InquiryFaultKind::Unavailable);
        assert_eq!(failed.exit(None), Exit::Done);
        assert_eq!(failed.exit(Some(&"s".into())), Exit::NoServer);
        assert_eq!(answers(false, InquiryFaultKind::Unavailable).exit(None), Exit::NoServer);
        let none = answers(false, InquiryFaultKind::Unsupported);
        assert_eq!(none.exit(Some(&"s".into())), Exit::Failed);
        assert_eq!(Answers::default().exit(None), Exit::Done);
    }

    #[test]
    fn a_value_may_hold_what_separates_it_from_its_key() {
        assert_eq!(pair("a=b=c").unwrap(), ("a".to_owned(), "b=c".to_owned()));
        assert_eq!(pair("a=").unwrap().1, "");
        assert_eq!(pair("a").unwrap_err().exit, Exit::Usage);
        assert_eq!(pair("=a").unwrap_err().exit, Exit::Usage);
    }
}
