//! Macros of the Scion SDK; use them through the facade crate `scion`.

mod content;

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
