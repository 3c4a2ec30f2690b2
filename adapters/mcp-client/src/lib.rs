//! MCP client sessions over stdio and streamable HTTP
