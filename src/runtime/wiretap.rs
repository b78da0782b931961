//! The record of exchanges, for a face that looks at it and for files.
//!
//! While nobody looks, nothing here wakes up. While somebody does, changes are gathered for a moment
//! and told together.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;

use super::work::Inside;
use crate::bridge::Notice;
use crate::config::ModelConfig;
use crate::config::model::ProviderKind;
use crate::domain::exchange::{ExchangeId, Side};
use crate::store::{self, StoreError};
use crate::wire::{self, Guard, Needles, Recorder, Tap, variable_of};

/// How long changes are gathered before they are told.
const GATHER: Duration = Duration::from_millis(80);

/// What records the exchanges with the model: without its key, and without any secret that
/// somebody repeats.
pub(super) fn of_model(config: &ModelConfig, recorder: &Arc<Recorder>, secrets: Needles) -> Tap {
    let mut guard = Guard::new(secrets);
    if config.api_key.is_some() {
        let variable = config.api_key_env.clone().unwrap_or_else(|| variable_of("model key"));
        guard = guard.header("authorization", "Bearer ", &variable);
        for header in ["x-api-key", "api-key"] {
            guard = guard.header(header, "", &variable);
        }
    }
    let name = match config.provider {
        ProviderKind::Demo => "demo model".to_owned(),
        _ => config.name.clone(),
    };
    Tap::new(Arc::clone(recorder), Side::Model(name), guard)
}

/// The conductor's view of the record.
pub(super) struct Wiretap {
    recorder: Arc<Recorder>,
    changed: Arc<Notify>,
    watching: bool,
    due: Option<Instant>,
}

impl Wiretap {
    pub(super) fn new(recorder: Arc<Recorder>) -> Self {
        Self { recorder, changed: Arc::default(), watching: false, due: None }
    }

    pub(super) fn watching(&self) -> bool {
        self.watching
    }

    /// Switches watching on or off; gives back whether it is on.
    pub(super) fn watch(&mut self, on: bool) -> bool {
        self.watching = on;
        self.due = None;
        let changed = Arc::clone(&self.changed);
        self.recorder.watch(
            on.then(|| -> Box<dyn Fn() + Send + Sync> { Box::new(move || changed.notify_one()) }),
        );
        on
    }

    /// Waits until there is something new to tell. Can be given up and asked again.
    pub(super) async fn turned(&mut self) {
        let due = if let Some(due) = self.due {
            due
        } else {
            self.changed.notified().await;
            Instant::now() + GATHER
        };
        self.due = Some(due);
        tokio::time::sleep_until(due).await;
        self.due = None;
    }

    /// How things stand.
    pub(super) fn notice(&self) -> Notice {
        Notice::Wire { exchanges: Arc::new(self.recorder.snapshot()) }
    }

    /// Writes an archive below a directory and reports how that went.
    pub(super) fn export(
        &self,
        only: Option<Vec<ExchangeId>>,
        dir: Option<PathBuf>,
        inside: mpsc::Sender<Inside>,
    ) -> impl Future<Output = ()> + use<> {
        let recorder = Arc::clone(&self.recorder);
        let write = move || {
            let Some(dir) = dir else {
                return Err("there is no directory for it: set MINI_ME_HOME".to_owned());
            };
            // A colon is no character for a file's name everywhere.
            let stamp = wire::stamp(SystemTime::now()).replace([':', '.'], "-");
            let file = dir.join(format!("wire-{stamp}.har"));
            let count = write(&recorder, only.as_deref(), &file);
            count.map(|count| (count, file)).map_err(|fault| fault.to_string())
        };
        async move {
            let written = tokio::task::spawn_blocking(write).await;
            let written = written.unwrap_or_else(|_| Err("the writer stopped".to_owned()));
            drop(inside.send(Inside::Exported(written)).await);
        }
    }
}

/// Writes an archive of these exchanges (all, for `None`), for this user alone. How many are in it.
pub fn write(
    recorder: &Recorder,
    only: Option<&[ExchangeId]>,
    file: &Path,
) -> Result<usize, StoreError> {
    let kept = recorder.snapshot().kept;
    let wanted = kept.iter().filter(|one| only.is_none_or(|only| only.contains(&one.id)));
    let wanted: Vec<_> = wanted.map(Arc::as_ref).collect();
    store::replace(file, wire::har(wanted.iter().copied()).as_bytes())?;
    Ok(wanted.len())
}

#[cfg(test)]
mod tests {
    use tokio::time::timeout;
    use url::Url;

    use super::*;
    use crate::domain::exchange::About;
    use crate::runtime::recorder;
    use crate::wire::{Limits, Request};

    fn record(recorder: &Arc<Recorder>) {
        let tap = Tap::new(Arc::clone(recorder), Side::Server("s".into()), Guard::default());
        let url = &Url::parse("https://s.test/mcp").unwrap();
        let about = About::default();
        drop(tap.begin(Request { verb: "GET", url, headers: [], body: b"", about }));
    }

    #[tokio::test(start_paused = true)]
    async fn many_changes_are_told_together_and_none_while_nobody_looks() {
        let recorder = recorder(Limits::VIEW);
        let mut tap = Wiretap::new(Arc::clone(&recorder));
        record(&recorder);
        let long = Duration::from_secs(3_600);
        assert!(timeout(long, tap.turned()).await.is_err(), "nobody looks");
        assert!(tap.watch(true));
        record(&recorder);
        record(&recorder);
        // As in the loop: other things come in between.
        assert!(timeout(GATHER / 2, tap.turned()).await.is_err());
        timeout(long, tap.turned()).await.unwrap();
        let Notice::Wire { exchanges } = tap.notice() else { panic!() };
        assert_eq!(exchanges.kept.len(), 3);
        assert!(timeout(long, tap.turned()).await.is_err(), "nothing changed");
        assert!(!tap.watch(false));
    }

    #[tokio::test]
    async fn an_archive_holds_what_was_asked_for_and_is_private() {
        let (recorder, home) = (recorder(Limits::VIEW), tempfile::tempdir().unwrap());
        record(&recorder);
        record(&recorder);
        let tap = Wiretap::new(recorder);
        let (inside, mut news) = mpsc::channel(1);
        let dir = home.path().join("wire");
        tap.export(Some(vec![ExchangeId(2)]), Some(dir), inside.clone()).await;
        let Some(Inside::Exported(Ok((1, file)))) = news.recv().await else { panic!() };
        let har: serde_json::Value =
            serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        assert_eq!(har["log"]["entries"].as_array().unwrap().len(), 1);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        }
        tap.export(None, None, inside).await;
        assert!(matches!(news.recv().await, Some(Inside::Exported(Err(_)))));
    }
}
