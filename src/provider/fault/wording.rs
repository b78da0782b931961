//! How endpoints word what went wrong. Text is given in lower case.

/// The conversation is longer than the window.
pub(super) fn too_long(text: &str) -> bool {
    any(
        text,
        &[
            "context_length_exceeded",
            "context length exceeded",
            "exceed_context_size",
            "available context size",
            "maximum context length",
            "model's context length",
            "context window",
            "context_window",
            "prompt is too long",
            "prompt too long",
            "input is too long",
            "input too long",
            "input length and `max_tokens` exceed",
            "reduce the length of the messages",
            "too large for model with", // Mistral: "Prompt contains … tokens, too large for model with …"
            "exceeds the maximum number of tokens", // Gemini
            "trying to keep the first", // LM Studio, with an overflowing context
            "request_too_large",
        ],
    )
}

/// The model, or the server as it was started, cannot call tools.
pub(super) fn no_tools(text: &str) -> bool {
    any(
        text,
        &[
            "does not support tools",
            "doesn't support tools",
            "not support tool",
            "not support function",
            "tools are not supported",
            "tools is not supported",
            "tool use is not supported",
            "tool calling is not supported",
            "tool calls are not supported",
            "function calling is not supported",
            "function calling is not enabled",
            "support tool use", // OpenRouter: "No endpoints found that support tool use"
            "--enable-auto-tool-choice", // vLLM, started without it
            "tools param requires --jinja flag", // llama.cpp, started without it
        ],
    )
}

/// The model does not exist.
pub(super) fn unknown_model(text: &str) -> bool {
    text.contains("model_not_found")
        || text.contains("not a valid model")
        || (text.contains("model")
            && any(text, &["does not exist", "not found", "unknown model", "no such model"]))
}

/// Not a rate but an account that is empty: waiting does not help.
pub(super) fn quota(text: &str) -> bool {
    any(
        text,
        &["insufficient_quota", "billing_hard_limit", "insufficient balance", "out of credits"],
    )
}

/// Too many requests, without a status to tell.
pub(super) fn rate_limited(text: &str) -> bool {
    any(text, &["rate_limit", "rate limit", "too many requests"])
}

/// The endpoint has trouble of its own.
pub(super) fn overloaded(text: &str) -> bool {
    any(text, &["overloaded", "api_error", "server_error", "internal error", "unavailable"])
}

fn any(text: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| text.contains(phrase))
}
