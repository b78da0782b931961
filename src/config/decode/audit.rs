//! `audit:`: the decision log.

use super::super::model::AuditArguments;
use super::super::scalar;
use super::{AuditConfig, Context, Fields, Node, keys, plain_section};

pub(super) const ARGUMENTS: [(&str, AuditArguments); 2] =
    [("hash", AuditArguments::Hash), ("full", AuditArguments::Full)];

pub(super) fn decode(context: &mut Context<'_>, node: &Node) -> AuditConfig {
    let default = AuditConfig::default();
    let fields = match Fields::of(node, "audit", "a map with `arguments`") {
        Ok(fields) => fields,
        Err(problem) => {
            context.warn(&problem);
            return default;
        }
    };
    let entries = plain_section(context, &fields, &keys::AUDIT);
    let fields = Fields { entries: &entries, ..fields };
    context.origins.note("audit", &fields);
    let arguments = fields
        .given("arguments")
        .map_or(Ok(default.arguments), |node| scalar::choice(node, "audit.arguments", &ARGUMENTS));
    AuditConfig { arguments: context.or_default(arguments, default.arguments, "`hash`") }
}
