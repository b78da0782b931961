//! Secrets out of strings, headers, URLs and JSON.

use url::Url;

/// Scheme, host, port and path: no user info, no query, no fragment.
pub fn url(url: &Url) -> String {
    let mut bare = url.clone();
    bare.set_query(None);
    bare.set_fragment(None);
    let _ = bare.set_username("");
    let _ = bare.set_password(None);
    bare.to_string()
}
