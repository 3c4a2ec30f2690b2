//! `#[scion::operations]`.

mod argument;
mod attribute;
mod method;

use proc_macro2::TokenStream;
use quote::quote;
use syn::{ImplItem, ItemImpl, LitStr, Result, Token, Type};

use crate::words::unknown;

/// The words between the parentheses of `#[scion::operations(…)]`.
#[derive(Default)]
struct Words {
    prefix: Option<LitStr>,
    domain: Option<LitStr>,
}

impl Words {
    fn read(attribute: TokenStream) -> Result<Self> {
        let mut words = Self::default();
        let parser = syn::meta::parser(|meta| {
            let name = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
            match name.as_str() {
                "prefix" => words.prefix = Some(prefix(meta.value()?.parse()?)?),
                "domain" => words.domain = Some(meta.value()?.parse()?),
                _ => return Err(meta.error(unknown("word", &name, &["prefix", "domain"]))),
            }
            Ok(())
        });
        syn::parse::Parser::parse2(parser, attribute)?;
        Ok(words)
    }
}

/// The rule of `scion_domain::tool_surface::ToolPrefix`, told while compiling.
fn prefix(text: LitStr) -> Result<LitStr> {
    let value = text.value();
    let good = value.starts_with(|first: char| first.is_ascii_alphabetic())
        && value.len() <= 32
        && !value.ends_with('_')
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let rule = "a prefix is a letter, then letters, digits or `_`, at most 32 characters, without a `_` at its end";
    if good { Ok(text) } else { Err(syn::Error::new(text.span(), rule)) }
}

pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let words = Words::read(attribute)?;
    let mut item: ItemImpl = syn::parse2(item)
        .map_err(|error| syn::Error::new(error.span(), "`#[scion::operations]` belongs on an `impl` block"))?;
    if let Some((_, path, _)) = &item.trait_ {
        return Err(syn::Error::new_spanned(
            path,
            "`#[scion::operations]` belongs on the type's own impl, not on a trait's",
        ));
    }
    let domain = words.domain.as_ref().map_or_else(|| type_name(&item.self_ty), LitStr::value);
    let mut faults: Option<syn::Error> = None;
    let mut bound = Vec::new();
    let mut destroys = false;
    for member in &mut item.items {
        if let ImplItem::Fn(function) = member {
            match method::Method::take(function) {
                Ok(Some(method)) => {
                    destroys |= method.destroys();
                    bound.push(method.bind(&domain));
                }
                Ok(None) => {}
                Err(fault) => match &mut faults {
                    Some(all) => all.combine(fault),
                    None => faults = Some(fault),
                },
            }
        }
    }
    if let Some(faults) = faults {
        // The impl itself is kept, so that its callers do not fail too.
        let told = faults.into_compile_error();
        return Ok(quote! { #item #told });
    }
    if bound.is_empty() {
        let message = "there is no operation here: put `#[operation]` on an `async fn`";
        return Err(syn::Error::new_spanned(Token![impl](item.impl_token.span), message));
    }
    let prefix = words.prefix.as_ref().map(|text| {
        quote! { const PREFIX: ::core::option::Option<&'static str> = ::core::option::Option::Some(#text); }
    });
    let (generics, _, conditions) = item.generics.split_for_impl();
    let target = &item.self_ty;
    Ok(quote! {
        #item

        impl #generics ::scion::serve::Operations for #target #conditions {
            #prefix
            const DESTROYS: bool = #destroys;

            fn operations(__api: ::std::sync::Arc<Self>) -> ::std::vec::Vec<::scion::serve::BoundOperation> {
                let mut __all = ::std::vec::Vec::new();
                #(#bound)*
                __all
            }
        }
    })
}

/// The last name of a type's path, for the tag.
fn type_name(of: &Type) -> String {
    match of {
        Type::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests;
