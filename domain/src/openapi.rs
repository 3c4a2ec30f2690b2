//! What the reader of API descriptions refuses: documents, operations of a document, and arguments of a request.

use crate::refusals;

refusals! {
    /// Why a document is not read at all.
    pub enum ApiDocumentRefusal {
        /// Too many bytes.
        TooLarge { bytes: usize, limit: usize } => "openapi_too_large", CallerMistake, Never,
            "the document has {bytes} bytes; at most {limit} are read", "split it, or remove what is not served";
        /// Too many values.
        TooManyNodes { limit: usize } => "openapi_too_many_nodes", CallerMistake, Never,
            "the document has more than {limit} values", "split it, or remove what is not served";
        /// Nested too deeply.
        TooDeep { limit: usize } => "openapi_too_deep", CallerMistake, Never,
            "the document is nested deeper than {limit} levels", "flatten it";
        /// The bytes are no text.
        NotText => "openapi_not_text", CallerMistake, Never,
            "the document is not UTF-8 text", "save it as UTF-8";
        /// Neither JSON nor YAML.
        Malformed { syntax: &'static str, line: usize, column: usize } => "openapi_malformed", CallerMistake, Never,
            "the document is not {syntax} at line {line}, column {column}", "correct it there";
        /// One name twice in one mapping.
        DuplicateMember { line: usize, column: usize } => "openapi_duplicate_member", CallerMistake, Never,
            "a mapping has one key twice, at line {line}, column {column}", "remove one of the two";
        /// YAML that is more than data.
        Yaml { what: &'static str, line: usize, column: usize } => "openapi_yaml", CallerMistake, Never,
            "{what} at line {line}, column {column}", "write plain data: text, numbers, lists and mappings";
        /// Not a description of an API.
        NotAnApi => "openapi_not_an_api", CallerMistake, Never,
            "the document is neither OpenAPI 3.0, OpenAPI 3.1 nor Swagger 2.0", "give one whose `openapi` or `swagger` member says so";
    }
}

refusals! {
    /// Why one operation of a document is left out; the others are converted.
    pub enum OperationRefusal {
        /// A reference that leads out of the document. Nothing is fetched.
        ExternalReference { reference: String } => "openapi_external_reference", CallerMistake, Never,
            "`{reference}` is outside the document", "bundle the document into one file";
        /// A reference that leads nowhere.
        UnresolvedReference { reference: String } => "openapi_unresolved_reference", CallerMistake, Never,
            "`{reference}` leads nowhere", "correct the reference";
        /// References that only lead to each other.
        ReferenceLoop { reference: String } => "openapi_reference_loop", CallerMistake, Never,
            "`{reference}` leads back to itself", "correct the reference";
        /// A method that is not served.
        Method { method: &'static str } => "openapi_method", CallerMistake, Never,
            "{method} is not served as a tool", "nothing to do, or exclude the operation";
        /// Too many operations.
        TooManyOperations { limit: usize } => "openapi_too_many_operations", CallerMistake, Never,
            "the document has more than {limit} operations", "exclude operations that are not needed";
        /// Too many parameters.
        TooManyParameters { limit: usize } => "openapi_too_many_parameters", CallerMistake, Never,
            "the operation takes more than {limit} parameters", "exclude the operation";
        /// Parameters alone make a schema that is too large.
        TooLarge { limit: usize } => "openapi_operation_too_large", CallerMistake, Never,
            "the parameters of the operation need more than {limit} schema parts", "exclude the operation";
        /// A path that is no path.
        Path { what: &'static str } => "openapi_path", CallerMistake, Never,
            "the path {what}", "correct the path";
        /// A placeholder of the path without a parameter.
        PathParameter { name: String } => "openapi_path_parameter", CallerMistake, Never,
            "the path has {{{name}}} and no parameter of that name", "declare the path parameter";
        /// A part of the operation is not what the specification says.
        Shape { what: &'static str } => "openapi_shape", CallerMistake, Never,
            "{what}", "correct the document";
    }
}

refusals! {
    /// Why no request is made of the arguments of a call. Values are never repeated.
    pub enum PlanRefusal {
        /// A required argument is absent.
        Missing { argument: String } => "plan_argument_missing", CallerMistake, Never,
            "the argument `{argument}` is missing", "give it, see the tool's input schema";
        /// An argument the operation does not have. Its name is not repeated: the caller made it up.
        Unknown => "plan_argument_unknown", CallerMistake, Never,
            "the call has an argument the operation does not take", "use the arguments of the tool's input schema only";
        /// A value of another type than the place on the wire takes.
        Type { argument: String, expected: &'static str } => "plan_argument_type", CallerMistake, Never,
            "the argument `{argument}` must be {expected}", "see the tool's input schema";
        /// A text that should be JSON or base64 and is not.
        Encoded { argument: String, expected: &'static str } => "plan_argument_encoded", CallerMistake, Never,
            "a text in the argument `{argument}` is not {expected}", "encode it as the description of the argument says";
        /// A value that would lead to another path.
        PathValue { argument: String } => "plan_path_value", CallerMistake, Never,
            "the argument `{argument}` would change the path of the request", "give a value that is not empty, `.` or `..`";
        /// A value that a header field cannot carry.
        HeaderValue { argument: String } => "plan_header_value", CallerMistake, Never,
            "the argument `{argument}` has characters a header field cannot carry", "use visible ASCII characters";
        /// A value that is not one of those it may be.
        Choice { argument: String } => "plan_argument_choice", CallerMistake, Never,
            "the argument `{argument}` is not one of the values it may have", "see `enum` in the tool's input schema";
        /// A text that names no further page of this list.
        NextPage => "plan_next_page", CallerMistake, Never,
            "the argument `next_page` does not lead to a page of this list", "give it as the previous answer had it, or leave it out";
        /// Cookies are not sent.
        Cookie { argument: String } => "plan_cookie", CallerMistake, Never,
            "the argument `{argument}` would travel in a cookie, and no cookies are sent", "leave it out";
        /// The request is too large.
        TooLarge { limit: usize } => "plan_too_large", CallerMistake, Never,
            "the request has more than {limit} bytes", "send less at once";
    }
}

refusals! {
    /// Why a server address or an authentication declaration is not made.
    pub enum SetupRefusal {
        /// A variable without a value.
        Variable { name: String } => "openapi_server_variable", CallerMistake, Never,
            "the server variable `{name}` has no value, or one that is not allowed", "give one of its values";
        /// A scheme that is not supported.
        Scheme { scheme: String, what: &'static str } => "openapi_security_scheme", CallerMistake, Never,
            "the security scheme `{scheme}` {what}", "choose another scheme, or declare the authentication yourself";
        /// The document names no server.
        NoServer => "openapi_no_server", CallerMistake, Never,
            "the document names no server", "say where the API is with --base-url https://HOST/PATH";
        /// The document's server has no host.
        RelativeServer { url: String } => "openapi_relative_server", CallerMistake, Never,
            "the document's server `{url}` names no host", "say where the API is with --base-url https://HOST{url}, written out";
        /// Authentication is wanted and none was chosen.
        AuthNeeded { ways: String } => "openapi_auth_needed", CallerMistake, Never,
            "the API wants authentication: {ways}", "start again with one of these, or with --auth none to call without";
        /// Neither a scheme of the document nor a reference. The text is not repeated: it may be a secret.
        AuthUnknown { known: String } => "openapi_auth_unknown", CallerMistake, Never,
            "--auth is neither a security scheme of the document nor a secret reference; schemes: {known}",
            "write --auth SCHEME, --auth SCHEME=REFERENCE or --auth REFERENCE, where a reference is env://NAME, openbao://MOUNT/PATH#FIELD or file:///PATH; if a secret stood here, rotate it";
        /// A reference that may be for several schemes, or for none that takes one.
        AuthScheme { known: String } => "openapi_auth_scheme", CallerMistake, Never,
            "a reference alone does not say for which security scheme it is; those that take one: {known}", "write --auth SCHEME=REFERENCE";
        /// More or fewer references than the scheme has secrets.
        AuthReferences { scheme: String, secrets: String } => "openapi_auth_references", CallerMistake, Never,
            "the security scheme `{scheme}` takes {secrets}", "write --auth SCHEME=REFERENCE, with a comma between two references";
        /// Nothing is left to serve.
        NoOperation => "openapi_no_operation", CallerMistake, Never,
            "no operation of the document is left to serve", "look at `include` and `exclude`, and at what `scion serve --check` says was refused";
    }
}

refusals! {
    /// Why the answer of an API is not handed on. Nothing of the answer is repeated.
    pub enum AnswerRefusal {
        /// A page for a browser.
        Html { host: String, status: u16 } => "openapi_answer_html", PeerMisbehaved, Never,
            "{host} answered {status} with a web page instead of data", "check the base URL and whether the API wants a login";
        /// Bytes that are no text where text was announced.
        NotText { host: String, status: u16 } => "openapi_answer_not_text", PeerMisbehaved, Never,
            "{host} answered {status} with text that is not UTF-8", "report it to the operator of the API";
        /// The next page of a list is at another place than the list.
        NextElsewhere { host: String } => "openapi_next_elsewhere", PeerMisbehaved, Never,
            "{host} says that the next page is at another path, which the tool does not follow",
            "ask with arguments that narrow the list, or page it with the arguments of the API";
    }
}
