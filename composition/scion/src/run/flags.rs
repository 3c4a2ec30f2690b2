//! The command line of a served connector (`wire/mcp-surface.md` 0.6): every option is a variable of the environment too, and goes
//! before it.

use std::collections::BTreeMap;
use std::ffi::OsString;

use clap::builder::PossibleValuesParser;
use clap::error::{Error, ErrorKind};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

/// One option.
#[derive(Clone, Copy)]
struct Flag {
    long: &'static str,
    alias: Option<&'static str>,
    short: Option<char>,
    /// The variables it stands for; the first is the one that help names.
    variables: &'static [&'static str],
    value: &'static str,
    help: &'static str,
}

/// The words an option takes, for options with a fixed list.
const WORDS: [(&str, &[&str]); 2] = [
    ("transport", &["stdio", "streamable-http", "sse"]),
    ("auth-type", &["none", "static", "jwt", "oauth-proxy", "oidc-proxy", "remote-oauth"]),
];

const fn flag(long: &'static str, variables: &'static [&'static str], value: &'static str, help: &'static str) -> Flag {
    Flag { long, alias: None, short: None, variables, value, help }
}

const fn short(flag: &Flag, short: char) -> Flag {
    Flag { short: Some(short), ..*flag }
}

const fn alias(flag: &Flag, alias: &'static str) -> Flag {
    Flag { alias: Some(alias), ..*flag }
}

const SECTIONS: [(&str, &[Flag]); 6] = [
    (
        "Transport",
        &[
            short(
                &flag(
                    "transport",
                    &["TRANSPORT"],
                    "KIND",
                    "stdio, streamable-http (at /mcp) or sse (at /sse). Default: stdio.",
                ),
                't',
            ),
            short(&flag("host", &["HOST"], "HOST", "The address to listen on. Default: 127.0.0.1."), 'H'),
            short(&flag("port", &["PORT"], "PORT", "The port to listen on. Default: 8000."), 'p'),
            flag("public-base-url", &["MCP_PUBLIC_BASE_URL"], "URL", "The URL that clients know this server by."),
            flag("metrics", &["MCP_METRICS"], "BOOL", "Prometheus reads the calls at /metrics. Default: no."),
        ],
    ),
    (
        "Listener",
        &[
            flag("tls-certfile", &["MCP_TLS_CERTFILE"], "FILE", "The certificate chain, PEM. Needs --tls-keyfile."),
            flag("tls-keyfile", &["MCP_TLS_KEYFILE"], "FILE", "The certificate's key, PEM."),
            flag(
                "tls-terminated",
                &["MCP_TLS_TERMINATED"],
                "BOOL",
                "A proxy in front ends TLS. Needs --trusted-proxy-cidrs.",
            ),
            flag(
                "trusted-proxy-cidrs",
                &["MCP_TRUSTED_PROXY_CIDRS"],
                "LIST",
                "The networks of that proxy, with commas.",
            ),
            flag(
                "allowed-hosts",
                &["MCP_ALLOWED_HOSTS"],
                "LIST",
                "The Host values to take, with commas, ports included.",
            ),
            flag("allowed-origins", &["MCP_ALLOWED_ORIGINS"], "LIST", "The Origin values to take. Default: none."),
        ],
    ),
    (
        "Limits",
        &[
            flag(
                "max-request-bytes",
                &["MCP_MAX_REQUEST_BYTES"],
                "BYTES",
                "The largest request body. Default: 4194304.",
            ),
            flag("max-connections", &["MCP_MAX_CONNECTIONS"], "COUNT", "Connections at once. Default: 128."),
            flag("listen-backlog", &["MCP_LISTEN_BACKLOG"], "COUNT", "Connections that may wait. Default: 256."),
            flag(
                "keepalive-timeout-seconds",
                &["MCP_KEEPALIVE_TIMEOUT_SECONDS"],
                "SECONDS",
                "How long an idle connection stays. Default: 5.",
            ),
            flag(
                "graceful-shutdown-timeout-seconds",
                &["MCP_GRACEFUL_SHUTDOWN_TIMEOUT_SECONDS"],
                "SECONDS",
                "How long calls may end at shutdown. Default: 15.",
            ),
            flag(
                "request-body-timeout-seconds",
                &["MCP_REQUEST_BODY_TIMEOUT_SECONDS"],
                "SECONDS",
                "How long a body may take. Default: 30.",
            ),
        ],
    ),
    (
        "Callers",
        &[
            flag(
                "auth-type",
                &["AUTH_TYPE"],
                "KIND",
                "none, static, jwt, oauth-proxy, oidc-proxy or remote-oauth. Default:\nnone, which serves on stdio only.",
            ),
            flag(
                "static-tokens-ref",
                &["FASTMCP_SERVER_AUTH_STATIC_TOKENS_REF"],
                "REF",
                "Where the list of static tokens is.",
            ),
            flag("token-issuer", &["OIDC_ISSUER", "FASTMCP_SERVER_AUTH_JWT_ISSUER"], "URL", "Who issues the tokens."),
            flag("token-jwks-uri", &["FASTMCP_SERVER_AUTH_JWT_JWKS_URI"], "URL", "Where the issuer's keys are."),
            flag("token-audience", &["FASTMCP_SERVER_AUTH_JWT_AUDIENCE"], "TEXT", "The audience a token must be for."),
            flag(
                "token-algorithm",
                &["FASTMCP_SERVER_AUTH_JWT_ALGORITHM"],
                "NAME",
                "The one algorithm tokens are signed with.",
            ),
            flag(
                "token-secret-ref",
                &["FASTMCP_SERVER_AUTH_JWT_SECRET_REF"],
                "REF",
                "Where the key of an HMAC algorithm is.",
            ),
            flag(
                "token-public-key",
                &["FASTMCP_SERVER_AUTH_JWT_PUBLIC_KEY"],
                "PEM",
                "The one public key tokens are signed with.",
            ),
            flag(
                "required-scopes",
                &["CONNECTOR_REQUIRED_SCOPES", "FASTMCP_SERVER_AUTH_JWT_REQUIRED_SCOPES"],
                "LIST",
                "Scopes that every caller must have, with commas.",
            ),
        ],
    ),
    (
        "OAuth and OpenID",
        &[
            flag(
                "oauth-upstream-auth-endpoint",
                &["OAUTH_UPSTREAM_AUTH_ENDPOINT"],
                "URL",
                "Where the provider lets people log in.",
            ),
            flag(
                "oauth-upstream-token-endpoint",
                &["OAUTH_UPSTREAM_TOKEN_ENDPOINT"],
                "URL",
                "Where the provider gives tokens.",
            ),
            flag(
                "oauth-upstream-client-id",
                &["OAUTH_UPSTREAM_CLIENT_ID"],
                "ID",
                "This server's client at the provider.",
            ),
            flag(
                "oauth-upstream-client-secret-ref",
                &["OAUTH_UPSTREAM_CLIENT_SECRET_REF"],
                "REF",
                "Where that client's secret is.",
            ),
            flag("oauth-base-url", &["OAUTH_BASE_URL"], "URL", "The URL the provider sends people back to."),
            flag("oidc-config-url", &["OIDC_CONFIG_URL"], "URL", "The OpenID configuration of the provider."),
            flag("oidc-client-id", &["OIDC_CLIENT_ID"], "ID", "This server's client at the provider."),
            flag("oidc-client-secret-ref", &["OIDC_CLIENT_SECRET_REF"], "REF", "Where that client's secret is."),
            flag("oidc-base-url", &["OIDC_BASE_URL"], "URL", "The URL the provider sends people back to."),
            flag("remote-auth-servers", &["REMOTE_AUTH_SERVERS"], "LIST", "The authorization servers callers talk to."),
            flag("remote-base-url", &["REMOTE_BASE_URL"], "URL", "The URL that names this server to them."),
            flag(
                "allowed-client-redirect-uris",
                &["ALLOWED_CLIENT_REDIRECT_URIS"],
                "LIST",
                "Where clients may be sent back to.",
            ),
        ],
    ),
    (
        "Tools",
        &[
            alias(
                &flag(
                    "tools",
                    &["MCP_ENABLED_TOOLS"],
                    "LIST",
                    "Only these tools are served. Default: all. Also: --toolsets.",
                ),
                "toolsets",
            ),
            alias(
                &flag(
                    "disabled-tools",
                    &["MCP_DISABLED_TOOLS"],
                    "LIST",
                    "These tools are not served. Also: --disabled-toolsets.",
                ),
                "disabled-toolsets",
            ),
        ],
    ),
];

const AFTER: &str = "\
Every option stands for the variable in brackets and goes before it. Secrets
are references (env://NAME, openbao://MOUNT/PATH#FIELD), never values.

Exit codes:
  0  served to the end, or help shown
  1  refused, or serving failed
  2  the command line or a setting cannot be understood";

/// The whole command line, described.
pub(crate) fn command(name: &str, version: &str, about: Option<&str>) -> Command {
    let command = Command::new(name.to_owned())
        .version(version.to_owned())
        .about(about.map_or_else(|| format!("Serves {name} over MCP."), str::to_owned))
        .after_help(AFTER)
        .next_line_help(true);
    with_serve_options(command)
}

/// Adds the options of a served connector to a command that serves one.
pub fn with_serve_options(mut command: Command) -> Command {
    for (heading, flags) in SECTIONS {
        for flag in flags {
            let help = format!("{} [{}]", flag.help, flag.variables.join(", "));
            let mut arg = Arg::new(flag.long)
                .long(flag.long)
                .value_name(flag.value)
                .help(wrapped(&help))
                .help_heading(heading)
                .action(ArgAction::Set);
            if let Some(letter) = flag.short {
                arg = arg.short(letter);
            }
            if let Some(alias) = flag.alias {
                arg = arg.alias(alias);
            }
            if let Some((_, words)) = WORDS.iter().find(|(long, _)| *long == flag.long) {
                arg = arg.value_parser(PossibleValuesParser::new(*words)).hide_possible_values(true);
            } else if flag.long == "port" {
                arg = arg.value_parser(value_parser!(u16).range(1..));
            } else if flag.value == "BOOL" {
                arg = arg.num_args(0..=1).require_equals(true).default_missing_value("true");
            }
            command = command.arg(arg);
        }
    }
    command
}

/// Lines of at most 68 characters, so that help with its indentation fits 80 columns.
fn wrapped(text: &str) -> String {
    let mut out = String::new();
    let mut column = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > 68 {
            out.push('\n');
            column = 0;
        } else if column > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    out
}

/// What a command line asks for.
#[derive(Debug)]
pub(crate) enum Asked {
    /// Serve, with this environment.
    Serve(BTreeMap<String, String>),
    /// Show this text.
    Show(String),
    /// It cannot be understood.
    Wrong(String),
}

/// Reads a command line over an environment.
pub(crate) fn read(
    command: Command,
    arguments: impl Iterator<Item = OsString>,
    environment: BTreeMap<String, String>,
) -> Asked {
    let program = OsString::from(command.get_name());
    let matches = match command.try_get_matches_from(std::iter::once(program).chain(arguments)) {
        Ok(matches) => matches,
        Err(error) => return refused(&error),
    };
    match over_environment(&matches, environment) {
        Ok(environment) => Asked::Serve(environment),
        Err(what) => Asked::Wrong(what),
    }
}

/// The environment with the options of [`with_serve_options`] that were given over it; or what is wrong with one.
pub fn over_environment(
    matches: &ArgMatches,
    mut environment: BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, String> {
    for flag in SECTIONS.iter().flat_map(|(_, flags)| *flags) {
        let Ok(Some(mut raw)) = matches.try_get_raw(flag.long) else { continue };
        let Some(value) = raw.next() else { continue };
        let Some(value) = value.to_str() else {
            return Err(format!("the value of `--{}` is not UTF-8", flag.long));
        };
        for variable in flag.variables {
            environment.insert((*variable).to_owned(), value.to_owned());
        }
    }
    Ok(environment)
}

fn refused(error: &Error) -> Asked {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            Asked::Show(format!("{}\n", error.to_string().trim_end()))
        }
        _ => Asked::Wrong(crate::usage::describe(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(arguments: &[&str]) -> Asked {
        let environment =
            BTreeMap::from([("PORT".to_owned(), "9000".to_owned()), ("OTHER".to_owned(), "x".to_owned())]);
        read(command("desk-mcp", "1.2.3", None), arguments.iter().map(OsString::from), environment)
    }

    fn served(arguments: &[&str]) -> BTreeMap<String, String> {
        match asked(arguments) {
            Asked::Serve(environment) => environment,
            other => panic!("{other:?}"),
        }
    }

    fn wrong(arguments: &[&str]) -> String {
        match asked(arguments) {
            Asked::Wrong(text) => text,
            other => panic!("{other:?}"),
        }
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R019.1
    #[test]
    fn an_option_goes_before_its_variable() {
        assert_eq!(served(&[])["PORT"], "9000");
        let set = served(&["-t", "sse", "--port=81", "-H", "::1", "--toolsets", "a,b", "--tls-terminated"]);
        assert_eq!((&*set["TRANSPORT"], &*set["PORT"], &*set["HOST"]), ("sse", "81", "::1"));
        assert_eq!((&*set["MCP_ENABLED_TOOLS"], &*set["MCP_TLS_TERMINATED"], &*set["OTHER"]), ("a,b", "true", "x"));
        assert_eq!(served(&["--tls-terminated=no"])["MCP_TLS_TERMINATED"], "no");
        assert_eq!(
            served(&["--token-issuer", "https://i.example"])["FASTMCP_SERVER_AUTH_JWT_ISSUER"],
            "https://i.example"
        );
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R019.1
    #[test]
    fn what_is_not_known_is_refused_with_the_closest_word() {
        assert_eq!(wrong(&["--tranport", "sse"]), "unknown option `--tranport`; did you mean `--transport`?");
        assert_eq!(
            wrong(&["-t", "websocket"]),
            "`websocket` is not a value of `--transport <KIND>`; known: stdio, streamable-http, sse"
        );
        assert!(wrong(&["--port", "0"]).starts_with("`0` is not a value of `--port <PORT>`"));
        assert!(wrong(&["--port", "65536"]).starts_with("`65536` is not a value of `--port <PORT>`"));
        assert_eq!(wrong(&["serve"]), "unknown argument `serve`");
    }

    /// The list of `wire/mcp-surface.md` 0.6.
    #[test]
    fn the_command_line_is_the_peers_and_every_option_is_described() {
        let known = "transport host port auth-type tls-certfile tls-keyfile tls-terminated trusted-proxy-cidrs allowed-hosts \
            allowed-origins max-request-bytes max-connections listen-backlog keepalive-timeout-seconds \
            graceful-shutdown-timeout-seconds request-body-timeout-seconds public-base-url static-tokens-ref token-issuer \
            token-jwks-uri token-audience token-algorithm token-secret-ref token-public-key required-scopes \
            oauth-upstream-auth-endpoint oauth-upstream-token-endpoint oauth-upstream-client-id \
            oauth-upstream-client-secret-ref oauth-base-url oidc-config-url oidc-client-id oidc-client-secret-ref \
            oidc-base-url remote-auth-servers remote-base-url allowed-client-redirect-uris tools toolsets disabled-tools \
            disabled-toolsets";
        let mut described = command("desk-mcp", "1.2.3", None);
        described.clone().debug_assert();
        for name in known.split_whitespace() {
            let found = described.get_arguments().find(|arg| {
                let aliases = arg.get_all_aliases().unwrap_or_default();
                arg.get_long() == Some(name) || aliases.contains(&name)
            });
            assert!(found.is_some_and(|arg| arg.get_help().is_some()), "{name}");
        }
        for line in described.render_help().to_string().lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
        let Asked::Show(help) = asked(&["--help"]) else { panic!("help is shown") };
        assert!(help.contains("[TRANSPORT]") && help.contains("Exit codes:"), "{help}");
        let Asked::Show(version) = asked(&["--version"]) else { panic!("the version is shown") };
        assert_eq!(version, "desk-mcp 1.2.3\n");
    }
}
