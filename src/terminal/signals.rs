//! Signals: which one ends the program, stopping and going on.

use std::io;

/// A signal that was caught.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caught {
    /// The program is to end; the number is for the exit code (128 + number).
    End(i32),
    /// The program is to stop until it is continued.
    Stop,
}

#[cfg(unix)]
mod imp {
    use std::io;

    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
    use tokio::signal::unix::{Signal, SignalKind, signal};

    use super::Caught;

    /// Listens from the moment it is made.
    #[derive(Debug)]
    pub struct Signals {
        hup: Signal,
        int: Signal,
        quit: Signal,
        term: Signal,
        stop: Signal,
    }

    impl Signals {
        /// Begins to listen.
        pub fn listen() -> io::Result<Self> {
            let on = |number| signal(SignalKind::from_raw(number));
            Ok(Self {
                hup: on(SIGHUP)?,
                int: on(SIGINT)?,
                quit: on(SIGQUIT)?,
                term: on(SIGTERM)?,
                stop: on(SIGTSTP)?,
            })
        }

        /// The next signal. Cancel-safe.
        pub async fn next(&mut self) -> Caught {
            tokio::select! {
                _ = self.hup.recv() => Caught::End(SIGHUP),
                _ = self.int.recv() => Caught::End(SIGINT),
                _ = self.quit.recv() => Caught::End(SIGQUIT),
                _ = self.term.recv() => Caught::End(SIGTERM),
                _ = self.stop.recv() => Caught::Stop,
            }
        }
    }

    /// Stops this process; returns once it is continued.
    pub(super) fn stop() -> io::Result<()> {
        signal_hook::low_level::emulate_default_handler(SIGTSTP)
    }
}

#[cfg(not(unix))]
mod imp {
    use std::io;

    use super::Caught;

    /// Listens from the moment it is made.
    #[derive(Debug)]
    pub struct Signals;

    impl Signals {
        /// Begins to listen.
        pub fn listen() -> io::Result<Self> {
            Ok(Self)
        }

        /// The next signal. Cancel-safe.
        pub async fn next(&mut self) -> Caught {
            match tokio::signal::ctrl_c().await {
                Ok(()) => Caught::End(2),
                Err(_) => std::future::pending().await,
            }
        }
    }

    /// There is no stopping here.
    pub(super) fn stop() -> io::Result<()> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "there is no job control here"))
    }
}

pub use imp::Signals;

/// Stops this process, as Ctrl-Z does in a shell; returns once it is continued.
pub fn stop() -> io::Result<()> {
    imp::stop()
}
