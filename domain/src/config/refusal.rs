//! What a configuration file can be refused for.

use url::{Host, Url};

use crate::credential::ReferenceRefusal;
use crate::id::IdRefusal;
use crate::refusals;

refusals! {
    /// Why a configuration is refused. Keys are named; values never are, since a value may be a secret in the wrong place.
    pub enum ConfigRefusal {
        /// The file cannot be opened or read.
        Unreadable { what: &'static str } => "config_unreadable", CallerMistake, Never,
            "the file cannot be read: {what}", "check the path and its permissions";
        /// The file is over its bound.
        TooLarge { limit: usize } => "config_too_large", CallerMistake, Never,
            "the file is larger than {limit} bytes", "split the fleet over several configurations";
        /// The bytes are not UTF-8.
        NotUtf8 => "config_not_utf8", CallerMistake, Never,
            "the file is not UTF-8 from here on", "save it as UTF-8";
        /// Not YAML or JSON.
        Malformed { syntax: &'static str, detail: String } => "config_malformed", CallerMistake, Never,
            "not valid {syntax}: {detail}", "fix the syntax at this place";
        /// A YAML tag.
        Tagged => "config_tagged", CallerMistake, Never,
            "tags are not read here", "remove the tag; put text that looks like something else in quotes";
        /// An alias inside its own anchor.
        AliasLoop => "config_alias_loop", CallerMistake, Never,
            "this alias leads back to itself", "write the value out";
        /// Nested deeper than any configuration is.
        TooDeep { limit: usize } => "config_too_deep", CallerMistake, Never,
            "nested deeper than {limit} levels", "flatten it";
        /// Aliases make it larger than any file of the allowed size.
        TooManyValues { limit: usize } => "config_too_many_values", CallerMistake, Never,
            "more than {limit} values once aliases are followed", "use fewer aliases";
        /// More than one document.
        SeveralDocuments => "config_several_documents", CallerMistake, Never,
            "a second document starts here", "keep one document in a file";
        /// Nothing in it.
        Empty => "config_empty", CallerMistake, Never,
            "the file holds no configuration", "write at least `connectors:` with a list";
        /// A key stands twice.
        DuplicateKey { first_line: usize } => "config_duplicate_key", CallerMistake, Never,
            "this key stands in line {first_line} already", "keep one of the two";
        /// A key that is not text.
        NotAKey => "config_not_a_key", CallerMistake, Never,
            "a key must be a word", "write `key: value`";
        /// A key nobody knows.
        UnknownKey { hint: String } => "config_unknown_key", CallerMistake, Never,
            "unknown key; {hint}", "correct or remove it";
        /// A name that what the file is about does not have.
        UnknownName { what: &'static str, hint: String } => "config_unknown_name", CallerMistake, Never,
            "there is no {what} of this name; {hint}", "correct or remove it";
        /// Something that cannot be, whatever its value.
        NotPossible { what: &'static str } => "config_not_possible", CallerMistake, Never,
            "{what}", "change or remove it";
        /// A key that must be there.
        MissingKey { key: &'static str } => "config_missing_key", CallerMistake, Never,
            "`{key}` is missing", "add it";
        /// Another kind of value was expected.
        WrongType { expected: &'static str, found: &'static str } => "config_wrong_type", CallerMistake, Never,
            "expected {expected}, found {found}", "write that kind of value; text that looks like a number or a boolean needs quotes";
        /// A value outside its bounds.
        OutOfRange { expected: &'static str } => "config_out_of_range", CallerMistake, Never,
            "must be {expected}", "choose a value in that range";
        /// A name outside its alphabet.
        BadName { refusal: IdRefusal } => "config_bad_name", CallerMistake, Never,
            "{refusal}", "use lower-case letters, digits, `.`, `_` and `-`";
        /// A literal where a reference belongs.
        NotAReference { refusal: ReferenceRefusal } => "config_not_a_reference", CallerMistake, Never,
            "{refusal}", "write env://NAME or openbao://MOUNT/PATH#FIELD; if a secret stood here, rotate it";
        /// Two connectors with one name.
        DuplicateConnector { first_line: usize } => "config_duplicate_connector", CallerMistake, Never,
            "a connector of this name stands in line {first_line} already", "give each connector its own name";
        /// Neither or both of `url` and `command`.
        EndpointChoice { found: &'static str } => "config_endpoint_choice", CallerMistake, Never,
            "an endpoint needs exactly one of `url` and `command`; {found} found", "keep the one that reaches the server";
        /// A member that belongs to the other kind of endpoint.
        WrongEndpoint { needs: &'static str } => "config_wrong_endpoint", CallerMistake, Never,
            "only an endpoint with `{needs}` has this", "remove it, or change the kind of endpoint";
        /// Two ways to authenticate.
        TwoCredentials => "config_two_credentials", CallerMistake, Never,
            "`bearer_token` and `client_credentials` exclude each other", "keep one of the two";
        /// Neither or both of `issuer` and `token_url`.
        TokenSourceChoice { found: &'static str } => "config_token_source_choice", CallerMistake, Never,
            "exactly one of `issuer` and `token_url` is needed; {found} found", "keep the one your provider documents";
        /// A URL that an authorization server cannot have.
        BadAuthUrl => "config_bad_auth_url", CallerMistake, Never,
            "must be an https URL without user info or fragment, and without a query for an issuer",
            "copy the URL from the provider; plain http is for localhost only";
        /// A URL with user info in it.
        UrlCredentials => "config_url_credentials", CallerMistake, Never,
            "the URL carries user info", "use `bearer_token` or `client_credentials` with a reference";
        /// A URL the client cannot dial.
        NotHttp => "config_not_http", CallerMistake, Never,
            "not an http or https URL; environment variables are not expanded here", "write the full URL";
        /// The longest delay is below the first one.
        BackoffOrder => "config_backoff_order", CallerMistake, Never,
            "`backoff_max_seconds` is below `backoff_initial_seconds`", "make it at least as long";
        /// An environment name that cannot be set.
        BadEnvName => "config_bad_env_name", CallerMistake, Never,
            "an environment name is 1 to 128 characters without `=`, blanks and controls", "rename it";
    }
}

/// Checks the URL of an authorization server: https, or http to this very machine by name; no user info, no fragment;
/// an issuer has no query (`wire/mcp-surface.md` 6.5, RFC 8414 section 2).
pub fn auth_url(text: &str, issuer: bool) -> Result<(), ConfigRefusal> {
    let url = Url::parse(text.trim()).map_err(|_| ConfigRefusal::BadAuthUrl)?;
    let local = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address == std::net::Ipv4Addr::LOCALHOST,
        Some(Host::Ipv6(address)) => address == std::net::Ipv6Addr::LOCALHOST,
        None => return Err(ConfigRefusal::BadAuthUrl),
    };
    let scheme = url.scheme() == "https" || (url.scheme() == "http" && local);
    let clean = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
    if scheme && clean && !(issuer && url.query().is_some()) { Ok(()) } else { Err(ConfigRefusal::BadAuthUrl) }
}

/// Checks that a client can dial an endpoint: an absolute http or https URL without user info. The reader itself refuses
/// user info only, as the peer accepts any text; `scion doctor` asks this.
pub fn endpoint_url(text: &str) -> Result<(), ConfigRefusal> {
    let url = Url::parse(text.trim()).map_err(|_| ConfigRefusal::NotHttp)?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(ConfigRefusal::UrlCredentials);
    }
    if matches!(url.scheme(), "http" | "https") && url.has_host() { Ok(()) } else { Err(ConfigRefusal::NotHttp) }
}
