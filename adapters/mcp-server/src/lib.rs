//! Serves a declared tool surface over MCP
