//! The modules under fuzzing, from the program's own files. They depend on nothing else of it, so
//! that a fuzzing build takes seconds and instruments what matters.

#[path = "../../../src/jsonrpc.rs"]
pub mod jsonrpc;

#[path = "../../../src/mcp/headers.rs"]
pub mod headers;

#[path = "../../../src/sse"]
pub mod sse {
    mod data;
    pub mod decoder;
    mod scan;
}
