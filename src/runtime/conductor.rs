//! The conductor's loop.

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::Setup;
use super::tasks::Tasks;
use crate::bridge::{Notice, Op};
use crate::domain::Catalog;

/// Starts the loop and returns the first snapshot. `ended` is cancelled when all is over.
pub(super) fn start(
    setup: Setup,
    mut ops: mpsc::Receiver<Op>,
    notices: mpsc::Sender<Notice>,
    ended: CancellationToken,
) -> Arc<Catalog> {
    let catalog = Arc::new(Catalog::new(Vec::new(), setup.warnings, 0));
    let (tasks, _faults) = Tasks::new();
    tasks.spawn("conductor", async move {
        while let Some(op) = ops.recv().await {
            if op == Op::Quit {
                break;
            }
        }
        drop(notices);
        ended.cancel();
    });
    catalog
}
