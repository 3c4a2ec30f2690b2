//! Serves the ticket desk over MCP; `ticket-desk --help` says how.

fn main() -> std::process::ExitCode {
    ticket_desk::main()
}
