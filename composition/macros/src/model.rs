//! `#[scion::model]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Item, Result};

pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> Result<TokenStream> {
    if !attribute.is_empty() {
        return Err(syn::Error::new_spanned(
            attribute,
            "`#[scion::model]` takes nothing; use #[serde(…)] and #[schemars(…)]",
        ));
    }
    let item: Item = syn::parse2(item)?;
    if !matches!(item, Item::Struct(_) | Item::Enum(_)) {
        return Err(syn::Error::new_spanned(item, "`#[scion::model]` belongs on a struct or an enum"));
    }
    Ok(quote! {
        #[derive(
            ::scion::__private::serde::Serialize,
            ::scion::__private::serde::Deserialize,
            ::scion::__private::schemars::JsonSchema,
        )]
        #[serde(crate = "::scion::__private::serde")]
        #[schemars(crate = "::scion::__private::schemars")]
        #item
    })
}
