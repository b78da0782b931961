//! JSON-RPC 2.0 messages: ids, encoding, decoding (PROTOCOL §5). No I/O.
