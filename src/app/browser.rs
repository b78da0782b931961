//! Showing a page that a server wants to be seen: the platform's opener, without a shell.
//!
//! Nothing is fetched, and nothing of the page comes back (I7).

use std::process::Stdio;

use super::child;

/// The program that opens addresses.
const OPENER: &str = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };

/// Starts the opener and does not wait for it. The error says in a few words why it cannot be.
pub(super) fn open(url: &str, withheld: &[String]) -> Result<(), String> {
    let parsed = url::Url::parse(url).map_err(|error| format!("no address of a page ({error})"))?;
    if !matches!(parsed.scheme(), "http" | "https") {
        return Err(format!("pages of {} are not opened", parsed.scheme()));
    }
    // Over SSH without a display a browser would take the terminal, or open where nobody sees it.
    if !cfg!(target_os = "macos") && !has_display(|name| std::env::var_os(name).is_some()) {
        return Err("there is no display here".to_owned());
    }
    // The address as it was shown, not as the parser would write it; it begins with its scheme and
    // so is never an option.
    let started = child::command(OPENER, withheld)
        .arg(url.trim())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let mut child = started.map_err(|error| format!("{OPENER} cannot be started ({error})"))?;
    // Whoever ends must be waited for; the opener may live as long as the browser.
    std::thread::spawn(move || drop(child.wait()));
    Ok(())
}

fn has_display(set: impl Fn(&str) -> bool) -> bool {
    ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER", "WSL_DISTRO_NAME"].into_iter().any(set)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_are_opened() {
        for url in ["file:///etc/passwd", "javascript:alert(1)", "--help", "", "vscode://x"] {
            assert!(open(url, &[]).is_err(), "{url}");
        }
    }

    #[test]
    fn without_a_display_there_is_no_browser() {
        assert!(!has_display(|_| false));
        assert!(has_display(|name| name == "WAYLAND_DISPLAY"));
    }
}
