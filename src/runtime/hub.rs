//! All MCP clients; the owner of the catalog.
