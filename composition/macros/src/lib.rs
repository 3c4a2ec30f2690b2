//! Macros of the Scion SDK; use them through the facade crate `scion`.

mod connector;
mod content;
mod model;
mod operations;
mod words;

use proc_macro::TokenStream;
use syn::parse_macro_input;

/// Serves the methods of an API client as tools: implements `scion::serve::Operations` for it.
///
/// On the inherent impl: `#[scion::operations(prefix = "github", domain = "repositories")]`, both optional. Without a prefix, tool
/// names begin with the connector's name without its `-mcp`, `-agent`, `-api` or `-server`; the domain is a tag of every tool, the
/// type's name unless set. One type has one such impl; further ones go without it.
///
/// # Operations
/// Every `async fn` with `#[operation]` is one tool. It takes `&self`, owned arguments and, where it wants one, a `ToolContext`; it
/// returns `Result<T, E>`. Its doc comment is the tool's description and must be there.
///
/// A `pub async fn` with `&self` and without `#[operation]` is a compile error, so that no public method is served or left out by
/// oversight. Mark it `#[operation]`, or `#[operation(skip)]`, or make it less public. Every other item stays as it is.
///
/// | in `#[operation(…)]` | says |
/// |---|---|
/// | `get`, `head`, `post`, `put`, `patch`, `delete` `= "/path"` | the HTTP method; each `{name}` in the path is an argument |
/// | `source(record = "…", id = "…", …)` | the records are worth copying, see below |
/// | `destructive`, `destructive = false` | whether it destroys something, where verb and name do not tell |
/// | `title`, `version`, `name`, `domain` `= "…"` | the tool's title, own version, name after the prefix, and tag |
/// | `requires_actor` | it acts for the user who calls, and is refused without one |
/// | `skip` | it is no tool |
///
/// `source` takes `record` and `id`, and where the types do not say it already: `name`, `cursor`, `title`, `text`, `class`, `path`
/// (`= "…"`), `fields("…", …)`, `page_size = 100` and `edge(name = "…", field = "…", record = "…", source = "…")`.
///
/// # Arguments
/// Any type that `serde` reads and `schemars` describes (`#[scion::model]` derives both); `Option<T>` is optional. A doc comment on
/// the argument is its description. `#[arg(default = 1, min = 1, max = 100, max_length = 200, name = "…")]` says more.
#[proc_macro_attribute]
pub fn operations(attribute: TokenStream, item: TokenStream) -> TokenStream {
    operations::expand(attribute.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// A type that stands in arguments or answers: derives `serde::Serialize`, `serde::Deserialize` and `schemars::JsonSchema` from the
/// copies that the SDK carries, so that a connector need not depend on them. `#[serde(…)]` and `#[schemars(…)]` on the type and its
/// fields work as ever. Doc comments of fields become descriptions.
#[proc_macro_attribute]
pub fn model(attribute: TokenStream, item: TokenStream) -> TokenStream {
    model::expand(attribute.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Declares a connector: a function `connector()` with the declaration, and a `main` that serves it.
///
/// ```text
/// scion::connector! {
///     name: "github-mcp",                        // the one declared name; the version is the package's
///     api: GitHub,                               // a type with #[scion::operations] and `impl scion::Api`
///     auth: Bearer::env("GITHUB_TOKEN"),         // how the vendor knows us; names secrets, holds none
///     base_url: "https://api.github.com",        // unless GITHUB_BASE_URL says otherwise
///     rate_limit: per_second(10),
///     content: "content/",                       // skills, prompts, ontology; carried by the binary
///     title: "GitHub", instructions: "…",        // for people and models
///     configure: |builder| builder.tool(…),      // anything else a ConnectorBuilder takes
/// }
/// ```
///
/// `name` and `api` must be there. Without a secret to present, leave `auth` out.
#[doc(hidden)]
#[proc_macro]
pub fn declare_connector(input: TokenStream) -> TokenStream {
    let declared = parse_macro_input!(input as connector::Declared);
    declared.expand().into()
}

/// The content below a folder of this package, carried by the binary: `embed_content!("content")` is the
/// `&'static [(&'static str, &'static [u8])]` that `ServedContent::embedded` takes.
///
/// The folders `skills`, `prompts` and `ontology` are taken, hidden files are not, and a link is a compile error. A changed file
/// is noticed by Cargo; for a new one, let `build.rs` print `cargo:rerun-if-changed=content`.
#[proc_macro]
pub fn embed_content(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let folder = syn::parse_macro_input!(input as syn::LitStr);
    content::embed(&folder).unwrap_or_else(syn::Error::into_compile_error).into()
}
