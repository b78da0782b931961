//! Structured results against what their tools promise (D9). What does not fit is remarked on and
//! never lost.

use std::sync::Arc;

use super::shared::Shared;
use crate::domain::{Outcome, ToolName};
use crate::mcp::model::cut;
use crate::schema::check;

/// The same outcome, with a remark where its structured part does not fit the tool's schema. A
/// failure promises nothing and is not looked at.
pub(super) async fn checked(shared: &Shared, tool: &ToolName, outcome: Outcome) -> Outcome {
    let Outcome::Ok(output) = outcome else { return outcome };
    let Some(schema) = shared.output_schema(tool) else { return Outcome::Ok(output) };
    let output = Arc::new(output);
    let theirs = Arc::clone(&output);
    // Building a validator takes its time: away from everything that waits for I/O.
    let comparing = tokio::task::spawn_blocking(move || match &theirs.structured {
        Some(value) => check::misfit(&schema, value),
        None => Some("there is none".to_owned()),
    });
    let fault = comparing.await.ok().flatten();
    let mut output = Arc::unwrap_or_clone(output);
    if let Some(fault) = fault {
        let remark = format!("The structured result does not fit the tool's outputSchema: {fault}");
        output.remarks.push(remark);
        let tool = cut(tool.as_str(), 200);
        shared
            .peer
            .remark("gives results that do not fit the outputSchema of their tool", tool)
            .await;
    }
    Outcome::Ok(output)
}
