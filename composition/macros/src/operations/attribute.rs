//! What stands in `#[operation(…)]`.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::meta::ParseNestedMeta;
use syn::{Attribute, LitBool, LitInt, LitStr, Meta, Result, Token};

use crate::words::unknown;

const VERBS: [&str; 6] = ["get", "head", "post", "put", "patch", "delete"];
const WORDS: [&str; 14] = [
    "get",
    "head",
    "post",
    "put",
    "patch",
    "delete",
    "source",
    "destructive",
    "title",
    "version",
    "name",
    "domain",
    "requires_actor",
    "skip",
];
const SOURCE_WORDS: [&str; 11] =
    ["record", "id", "name", "cursor", "title", "text", "class", "path", "fields", "edge", "page_size"];

/// What an author says about an operation.
#[derive(Default)]
pub(super) struct Said {
    pub(super) verb: Option<(String, LitStr)>,
    pub(super) source: Option<(Span, TokenStream)>,
    pub(super) destructive: Option<bool>,
    pub(super) title: Option<LitStr>,
    pub(super) version: Option<LitStr>,
    pub(super) name: Option<LitStr>,
    pub(super) domain: Option<LitStr>,
    pub(super) requires_actor: bool,
    pub(super) skip: bool,
}

impl Said {
    pub(super) fn read(attribute: &Attribute) -> Result<Self> {
        let mut said = Self::default();
        match &attribute.meta {
            Meta::Path(_) => return Ok(said),
            Meta::NameValue(pair) => {
                return Err(syn::Error::new_spanned(pair, "write `#[operation(get = \"/path\")]`"));
            }
            Meta::List(_) => {}
        }
        attribute.parse_nested_meta(|meta| said.word(&meta))?;
        Ok(said)
    }

    fn word(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        let word = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
        let once = |there: bool| if there { Err(meta.error(format!("`{word}` stands twice"))) } else { Ok(()) };
        match word.as_str() {
            verb if VERBS.contains(&verb) => {
                if let Some((other, _)) = &self.verb {
                    return Err(
                        meta.error(format!("an operation has one HTTP method, and this one has `{other}` already"))
                    );
                }
                let path: LitStr = meta
                    .value()
                    .map_err(|_| meta.error(format!("`{verb}` needs the path: `{verb} = \"/user/repos\"`")))?
                    .parse()?;
                self.verb = Some((verb.to_owned(), path));
            }
            "source" => {
                once(self.source.is_some())?;
                self.source = Some((meta.path.segments[0].ident.span(), source(meta)?));
            }
            "destructive" => {
                once(self.destructive.is_some())?;
                let said = if meta.input.peek(Token![=]) { meta.value()?.parse::<LitBool>()?.value } else { true };
                self.destructive = Some(said);
            }
            "title" => self.title = Some(meta.value()?.parse()?),
            "version" => self.version = Some(version(meta.value()?.parse()?)?),
            "name" => self.name = Some(meta.value()?.parse()?),
            "domain" => self.domain = Some(meta.value()?.parse()?),
            "requires_actor" => self.requires_actor = true,
            "skip" => self.skip = true,
            _ => return Err(meta.error(unknown("word", &word, &WORDS))),
        }
        Ok(())
    }

    /// `Verb::Get` and its like.
    pub(super) fn verb(&self) -> TokenStream {
        match &self.verb {
            None => quote! { ::core::option::Option::None },
            Some((verb, _)) => {
                let mut letters = verb.chars();
                let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
                let variant = format_ident!("{first}{}", letters.as_str());
                quote! { ::core::option::Option::Some(::scion::domain::tool_surface::Verb::#variant) }
            }
        }
    }
}

/// The rule of `scion_domain::tool_surface::ToolVersion`, told while compiling.
fn version(text: LitStr) -> Result<LitStr> {
    let value = text.value();
    let good = (1..=64).contains(&value.len()) && value.bytes().all(|byte| byte.is_ascii_graphic());
    let rule = "a version is one word of at most 64 characters, such as \"1.2.0\"";
    if good { Ok(text) } else { Err(syn::Error::new(text.span(), rule)) }
}

fn source(meta: &ParseNestedMeta<'_>) -> Result<TokenStream> {
    let (mut record, mut id): (Option<LitStr>, Option<LitStr>) = (None, None);
    let mut more = TokenStream::new();
    if !meta.input.peek(syn::token::Paren) {
        return Err(meta.error("write `source(record = \"Repository\", id = \"id\")`"));
    }
    meta.parse_nested_meta(|inner| {
        let word = inner.path.get_ident().cloned();
        let text = word.as_ref().map(ToString::to_string).unwrap_or_default();
        match text.as_str() {
            "record" => record = Some(inner.value()?.parse()?),
            "id" => id = Some(inner.value()?.parse()?),
            "fields" => {
                let content;
                syn::parenthesized!(content in inner.input);
                let names = content.parse_terminated(<LitStr as syn::parse::Parse>::parse, Token![,])?;
                more.extend(quote! { .fields(&[#names]) });
            }
            "edge" => more.extend(edge(&inner)?),
            "page_size" => {
                let size: LitInt = inner.value()?.parse()?;
                if !(1..=1000).contains(&size.base10_parse::<u32>().unwrap_or(0)) {
                    return Err(syn::Error::new(size.span(), "a page has 1 to 1000 records"));
                }
                more.extend(quote! { .page_size(#size) });
            }
            known if SOURCE_WORDS.contains(&known) => {
                let value: LitStr = inner.value()?.parse()?;
                more.extend(quote! { .#word(#value) });
            }
            _ => return Err(inner.error(unknown("word", &text, &SOURCE_WORDS))),
        }
        Ok(())
    })?;
    let (Some(record), Some(id)) = (record, id) else {
        return Err(meta.error("a source needs the type of its records and the field that identifies one: `source(record = \"Repository\", id = \"id\")`"));
    };
    Ok(quote! { ::scion::serve::RecordSource::new(#record, #id) #more })
}

fn edge(meta: &ParseNestedMeta<'_>) -> Result<TokenStream> {
    const EDGE_WORDS: [&str; 4] = ["name", "field", "record", "source"];
    let (mut name, mut field, mut record, mut source): (
        Option<LitStr>,
        Option<LitStr>,
        Option<LitStr>,
        Option<LitStr>,
    ) = (None, None, None, None);
    let message = "write `edge(name = \"asked_by\", field = \"person\", record = \"Person\", source = \"people\")`; the source may be left out";
    if !meta.input.peek(syn::token::Paren) {
        return Err(meta.error(message));
    }
    meta.parse_nested_meta(|inner| {
        let word = inner.path.get_ident().map(ToString::to_string).unwrap_or_default();
        let slot = match word.as_str() {
            "name" => &mut name,
            "field" => &mut field,
            "record" => &mut record,
            "source" => &mut source,
            _ => return Err(inner.error(unknown("word", &word, &EDGE_WORDS))),
        };
        *slot = Some(inner.value()?.parse()?);
        Ok(())
    })?;
    let (Some(name), Some(field), Some(record)) = (name, field, record) else { return Err(meta.error(message)) };
    let to = source.map(|source| quote! { .to_source(#source) });
    Ok(quote! { .edge(::scion::serve::Edge::new(#name, #field, #record) #to) })
}
