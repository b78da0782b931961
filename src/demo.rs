//! The demo: two real HTTP services on the loopback interface.
//!
//! A bug tracker served over MCP (by the official SDK) and an endpoint that speaks the model's
//! protocol and follows a script. The client treats both like any other server and model.
//! [`start`] only binds the two ports, so that it can come before the first frame; what it returns
//! as [`Services`] answers once it is polled.

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::middleware;
use secrecy::SecretString;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use url::Url;

mod filler;
mod guard;
mod mcp;
mod model;
#[cfg(test)]
mod tests;
mod tools;
mod tracker;

pub use guard::KeyIs;

use guard::Guard;
use tracker::Tracker;

/// Name of the demo's server in the catalog.
pub const SERVER: &str = "tracker";
/// Name of the demo's model.
pub const MODEL: &str = model::NAME;

/// What the demo's model says its window is, in tokens.
pub const WINDOW: u64 = model::WINDOW;
/// The variable that would hold the demo's key, as it is shown; it is never read.
pub const KEY: &str = "MINI_ME_DEMO_KEY";

/// The port the bug tracker takes if it is free. What is remembered of a server (pins) goes by its
/// address: with a new port every time, each run of the demo would leave a server behind.
const PORT: u16 = 47_042;

/// Where the demo's services are and the key they want.
#[derive(Debug, Clone)]
pub struct Demo {
    /// The MCP endpoint.
    pub mcp: Url,
    /// Base URL of the model endpoint.
    pub model: Url,
    /// The project key: made anew for every run.
    pub key: SecretString,
}

/// The services behind a [`Demo`]: bound, not yet answering.
#[derive(Debug)]
pub struct Services {
    mcp: Option<TcpListener>,
    model: Option<TcpListener>,
    key: SecretString,
    key_is: KeyIs,
    origins: Vec<String>,
    extra_tools: usize,
}

/// Binds both services. Must be called inside a tokio runtime.
pub fn start() -> io::Result<(Demo, Services)> {
    let mcp = bind(PORT).or_else(|_taken| bind(0))?;
    let model = bind(0)?;
    let key = SecretString::from(random_key());
    let demo = Demo { mcp: url(&mcp, "mcp")?, model: url(&model, "v1")?, key: key.clone() };
    let services = Services {
        mcp: Some(mcp),
        model: Some(model),
        key,
        key_is: KeyIs::Required,
        origins: Vec::new(),
        extra_tools: 0,
    };
    Ok((demo, services))
}

/// Binds the scripted model alone, for servers of the user's own: its base URL and the key it wants.
pub fn model_alone() -> io::Result<(Url, SecretString, Services)> {
    let model = bind(0)?;
    let key = SecretString::from(random_key());
    let url = url(&model, "v1")?;
    let services = Services {
        mcp: None,
        model: Some(model),
        key: key.clone(),
        key_is: KeyIs::Required,
        origins: Vec::new(),
        extra_tools: 0,
    };
    Ok((url, key, services))
}

/// Binds the bug tracker alone, for any MCP client of this machine: it works without the key, and
/// pages of this machine (an inspector, say) may ask. Port 0 takes any free one.
pub fn server_alone(port: u16) -> io::Result<(Url, SecretString, Services)> {
    let mcp = bind(port)?;
    let key = SecretString::from(random_key());
    let origins = ["http://localhost:*", "http://127.0.0.1:*"].map(str::to_owned).to_vec();
    let url = url(&mcp, "mcp")?;
    let services = Services {
        mcp: Some(mcp),
        model: None,
        key: key.clone(),
        key_is: KeyIs::Optional,
        origins,
        extra_tools: 0,
    };
    Ok((url, key, services))
}

impl Services {
    /// With so many made-up tools beside those of the tracker.
    #[must_use]
    pub fn with_extra_tools(self, extra_tools: usize) -> Self {
        Self { extra_tools, ..self }
    }

    /// Answers until `cancel`.
    pub async fn serve(self, cancel: CancellationToken) -> io::Result<()> {
        let guard = Arc::new(Guard { key: self.key, key_is: self.key_is, origins: self.origins });
        let tracker = async {
            let Some(listener) = self.mcp else { return Ok(()) };
            let tracker = Arc::new(Tracker::load()?);
            let service = mcp::service(tracker, self.extra_tools, &guard.origins, cancel.clone());
            let routes = guarded(Router::new().route_service("/mcp", service), &guard);
            answer(listener, routes, cancel.clone()).await
        };
        let model = async {
            let Some(listener) = self.model else { return Ok(()) };
            answer(listener, guarded(model::routes()?, &guard), cancel.clone()).await
        };
        let (first, second) = tokio::join!(tracker, model);
        first.and(second)
    }
}

fn guarded(routes: Router, guard: &Arc<Guard>) -> Router {
    routes.layer(middleware::from_fn_with_state(Arc::clone(guard), guard::check))
}

async fn answer(
    listener: TcpListener,
    routes: Router,
    cancel: CancellationToken,
) -> io::Result<()> {
    // Not a graceful shutdown: streams that stay open for ever would hold it up.
    tokio::select! {
        () = cancel.cancelled() => Ok(()),
        ended = axum::serve(listener, routes).into_future() => ended,
    }
}

fn bind(port: u16) -> io::Result<TcpListener> {
    let socket = std::net::TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
    socket.set_nonblocking(true)?;
    TcpListener::from_std(socket)
}

fn url(listener: &TcpListener, path: &str) -> io::Result<Url> {
    let address = listener.local_addr()?;
    Url::parse(&format!("http://{address}/{path}")).map_err(io::Error::other)
}

/// 128 bits that nobody can foresee: the seeds of hash maps come from the system's random numbers.
fn random_key() -> String {
    let [high, low] = [0_u8, 1].map(|half| RandomState::new().hash_one(half));
    format!("demo-{high:016x}{low:016x}")
}
