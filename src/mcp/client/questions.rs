//! What the server asks in the middle of a request, put to the user: requests of a legacy server,
//! the questions of a modern one's unfinished result, the pages of an error of 2025-11-25.

use std::future::pending;
use std::sync::Arc;

use futures_util::future::join_all;
use serde_json::{Map, Value, json};

use super::shared::Shared;
use crate::domain::{CallId, ElicitationKind, ElicitationReply};
use crate::jsonrpc;
use crate::mcp::desk::Stop;
use crate::mcp::exchange::Question;
use crate::mcp::model::question::{self, Asked};

/// Puts a request of a legacy server to the user and answers it, in a post of its own (G7), unless
/// the server withdraws it. Silence would make it wait for ever (G8).
pub(super) async fn answer(shared: Arc<Shared>, question: Question) {
    let Question { id, asked, call, stopped, dialect } = question;
    let desk = &shared.peer.desk;
    let stop = async {
        let why = stopped.await.unwrap_or(Stop::Withdrawn);
        (why, why.words())
    };
    let reply = match desk.ask(asked, call, stop).await {
        Ok(reply) => {
            desk.dismiss(dialect.link, &id);
            reply
        }
        Err(Stop::CallOver | Stop::ConnectionOver) => ElicitationReply::Cancel,
        Err(Stop::Withdrawn) => return,
    };
    shared.post(&jsonrpc::result(&id, &question::answer(&reply)), &dialect).await;
}

/// Puts all questions of one round to the user: an answer under each key (R2, R3).
pub(super) async fn round(
    shared: &Shared,
    call: Option<CallId>,
    questions: Vec<(String, Asked)>,
) -> Map<String, Value> {
    let asking = questions.into_iter().map(|(key, asked)| async move {
        let reply = put(shared, call, asked).await;
        (key, question::answer(&reply))
    });
    join_all(asking).await.into_iter().collect()
}

async fn put(shared: &Shared, call: Option<CallId>, asked: Asked) -> ElicitationReply {
    let never = pending::<((), &'static str)>();
    shared.peer.desk.ask(asked, call, never).await.unwrap_or(ElicitationReply::Cancel)
}

/// Has the user open pages, and waits until the server says that they are done with or the user
/// does (I8). Whether the request is to be sent again.
pub(super) async fn pages(shared: &Shared, call: CallId, pages: Vec<Asked>) -> bool {
    let desk = &shared.peer.desk;
    let names: Vec<String> = pages.iter().filter_map(|page| page.name.clone()).collect();
    // Known before the user is asked: the news may come while other pages are still being opened.
    let done: Vec<_> = names.iter().map(|name| desk.page(name)).collect();
    let hosts: Vec<String> = pages.iter().filter_map(host).collect();
    let opened = join_all(pages.into_iter().map(|page| put(shared, Some(call), page))).await;
    let agreed = opened.iter().all(|reply| matches!(reply, ElicitationReply::Accept(_)));
    let again = agreed && {
        let all_done = async {
            for page in &done {
                page.cancelled().await;
            }
            if done.is_empty() {
                pending::<()>().await;
            }
            ((), "the server says that the page is done with")
        };
        let reply = desk.ask(finished(&hosts), Some(call), all_done).await;
        matches!(reply, Ok(ElicitationReply::Accept(_)) | Err(()))
    };
    for name in &names {
        desk.forget_page(name);
    }
    again
}

fn host(page: &Asked) -> Option<String> {
    match &page.kind {
        ElicitationKind::Url { host, .. } => Some(host.clone()),
        ElicitationKind::Form { .. } => None,
    }
}

/// Agreeing to open a page does not mean that it is done with (I7).
fn finished(hosts: &[String]) -> Asked {
    let message = format!(
        "Is the page at {} done with? Then accept, and the call is sent again. It goes on by itself once the server says so.",
        hosts.join(", ")
    );
    let schema = Arc::new(json!({ "type": "object", "properties": {} }));
    let kind = ElicitationKind::Form { schema, fields: Vec::new(), fault: None };
    Asked { message, kind, name: None }
}
