//! `scion::connector!`.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned as _;
use syn::{Expr, Ident, LitStr, Result, Token, Type};

use crate::words::unknown;

const KEYS: [&str; 10] =
    ["name", "api", "auth", "base_url", "rate_limit", "content", "title", "instructions", "client", "configure"];

/// What stands between the braces.
pub(crate) struct Declared {
    name: LitStr,
    api: Type,
    content: Option<LitStr>,
    /// Calls of the declaration, in the order they are written.
    calls: Vec<(Ident, Expr)>,
}

impl Parse for Declared {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let (mut name, mut api, mut content) = (None, None, None);
        let mut calls: Vec<(Ident, Expr)> = Vec::new();
        let mut seen: Vec<String> = Vec::new();
        while !input.is_empty() {
            let key = input.call(Ident::parse_any)?;
            let word = key.to_string();
            if !KEYS.contains(&word.as_str()) {
                return Err(syn::Error::new(key.span(), unknown("key", &word, &KEYS)));
            }
            if seen.contains(&word) {
                return Err(syn::Error::new(key.span(), format!("`{word}` stands twice")));
            }
            input.parse::<Token![:]>()?;
            match word.as_str() {
                "name" => name = Some(connector_name(input.parse()?)?),
                "api" => api = Some(input.parse()?),
                "content" => content = Some(input.parse()?),
                _ => calls.push((key, input.parse()?)),
            }
            seen.push(word);
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        let missing = |what: &str| syn::Error::new(Span::call_site(), what.to_owned());
        let name = name.ok_or_else(|| missing("a connector needs a name: `name: \"github-mcp\"`"))?;
        let api =
            api.ok_or_else(|| missing("a connector needs an API type: `api: GitHub`, with #[scion::operations]"))?;
        Ok(Self { name, api, content, calls })
    }
}

/// The rule of `scion_domain::id::ConnectorName`, told while compiling.
fn connector_name(name: LitStr) -> Result<LitStr> {
    let text = name.value();
    let good = text.starts_with(|first: char| first.is_ascii_lowercase() || first.is_ascii_digit())
        && text.len() <= 64
        && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._-".contains(&byte));
    if good {
        return Ok(name);
    }
    let rule =
        "a connector's name is at most 64 lower-case letters, digits, `.`, `_` and `-`, for example \"github-mcp\"";
    Err(syn::Error::new(name.span(), rule))
}

impl Declared {
    pub(crate) fn expand(&self) -> TokenStream {
        let Self { name, api, content, calls } = self;
        let content = content.as_ref().map(|folder| quote! { .embedded_content(::scion::embed_content!(#folder)) });
        let calls = calls.iter().map(|(key, value)| {
            // The words of authentication and pacing are at hand without an import.
            quote_spanned! { value.span() => .#key({
                #[allow(unused_imports, clippy::wildcard_imports)]
                use ::scion::__private::words::*;
                #value
            }) }
        });
        let of_api = quote_spanned! { api.span() => ::scion::ConnectorDeclaration::of::<#api> };
        quote! {
            /// The declaration of this connector.
            pub fn connector() -> ::scion::ConnectorDeclaration {
                #of_api(::scion::identity!(#name)) #content #(#calls)*
            }

            /// Serves this connector as the command line and the environment of the process say.
            #[allow(dead_code, unreachable_pub)]
            pub fn main() -> ::std::process::ExitCode {
                ::scion::run(connector())
            }
        }
    }
}
