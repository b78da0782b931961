//! Signals: which one ends the program, stopping and going on.

use std::io;

/// The number of the signal that Ctrl-C sends to everything in the foreground.
pub const INTERRUPT: i32 = 2;

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

    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGXFSZ};
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

    /// From here on a file that reaches the limit of the shell (`ulimit -f`) is an error of writing
    /// it, and no death. Must be called inside a tokio runtime.
    pub fn outlive_file_limit() -> io::Result<()> {
        // A handler stays installed once its listener is gone.
        signal(SignalKind::from_raw(SIGXFSZ)).map(drop)
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
                Ok(()) => Caught::End(super::INTERRUPT),
                Err(_) => std::future::pending().await,
            }
        }
    }

    /// There is no such limit here.
    pub fn outlive_file_limit() -> io::Result<()> {
        Ok(())
    }

    /// There is no stopping here.
    pub(super) fn stop() -> io::Result<()> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "there is no job control here"))
    }
}

pub use imp::{Signals, outlive_file_limit};

/// Stops this process, as Ctrl-Z does in a shell; returns once it is continued.
pub fn stop() -> io::Result<()> {
    imp::stop()
}
