//! One argument of an operation.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{Attribute, Expr, Ident, LitInt, LitStr, Pat, PatType, Result, Type};

use super::method::doc_text;
use crate::words::unknown;

const WORDS: [&str; 5] = ["default", "min", "max", "max_length", "name"];

pub(super) enum Argument {
    /// The call's context; whether it is borrowed.
    Context {
        borrowed: bool,
    },
    Value(Box<Value>),
}

pub(super) struct Value {
    pub(super) name: String,
    pub(super) of: Type,
    builder: TokenStream,
    has_default: bool,
}

impl Argument {
    /// Reads an argument and takes the attributes away that only this macro knows.
    pub(super) fn take(argument: &mut PatType) -> Result<Self> {
        if let Some(borrowed) = context(&argument.ty) {
            return Ok(Self::Context { borrowed });
        }
        let Pat::Ident(pattern) = &*argument.pat else {
            return Err(syn::Error::new_spanned(
                &argument.pat,
                "an argument of an operation has a name: `page: Option<u32>`",
            ));
        };
        match &*argument.ty {
            Type::Reference(reference) => {
                let message =
                    "an argument of an operation is owned: `String` rather than `&str`, `Vec<T>` rather than `&[T]`";
                return Err(syn::Error::new_spanned(reference, message));
            }
            Type::ImplTrait(of) => {
                return Err(syn::Error::new_spanned(of, "an argument of an operation has a type that can be named"));
            }
            _ => {}
        }
        let own = pattern.ident.unraw().to_string();
        let mut value =
            Value { name: own, of: (*argument.ty).clone(), builder: TokenStream::new(), has_default: false };
        let described = doc_text(&argument.attrs);
        if !described.is_empty() {
            value.builder.extend(quote! { .describe(#described) });
        }
        let (known, others): (Vec<Attribute>, Vec<Attribute>) = std::mem::take(&mut argument.attrs)
            .into_iter()
            .filter(|attribute| !attribute.path().is_ident("doc"))
            .partition(|attribute| attribute.path().is_ident("arg"));
        argument.attrs = others;
        for attribute in &known {
            value.read(attribute)?;
        }
        Ok(Self::Value(Box::new(value)))
    }
}

impl Value {
    fn read(&mut self, attribute: &Attribute) -> Result<()> {
        attribute.parse_nested_meta(|meta| {
            let word = meta.path.get_ident().cloned();
            let text = word.as_ref().map(ToString::to_string).unwrap_or_default();
            match text.as_str() {
                "default" => {
                    let value: Expr = meta.value()?.parse()?;
                    // Numbers of every width become JSON through the widest.
                    let value = match &value {
                        Expr::Lit(literal) if matches!(literal.lit, syn::Lit::Int(_)) => quote! { (#value as i64) },
                        other => quote! { #other },
                    };
                    self.builder.extend(quote! { .or(#value) });
                    self.has_default = true;
                }
                "min" | "max" => {
                    let value: Expr = meta.value()?.parse()?;
                    self.builder.extend(quote! { .#word(#value) });
                }
                "max_length" => {
                    let value: LitInt = meta.value()?.parse()?;
                    self.builder.extend(quote! { .max_length(#value) });
                }
                "name" => {
                    let name: LitStr = meta.value()?.parse()?;
                    let value = name.value();
                    let good = value.len() <= 64
                        && value.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
                        && value.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
                    if !good {
                        let rule =
                            "an argument's name is a lower-case letter, then letters, digits and `_`, at most 64";
                        return Err(syn::Error::new(name.span(), rule));
                    }
                    self.name = value;
                }
                _ => return Err(meta.error(unknown("word", &text, &WORDS))),
            }
            Ok(())
        })
    }

    /// The expression that describes it.
    pub(super) fn describe(&self) -> TokenStream {
        let Self { name, of, builder, .. } = self;
        quote_spanned! { of.span() => ::scion::serve::Argument::of::<#of>(#name) #builder .build() }
    }

    /// The statement that reads it from the arguments of a call.
    pub(super) fn read_into(&self, slot: &Ident, value: &Ident) -> TokenStream {
        let of = &self.of;
        quote_spanned! { of.span() => let #value: #of = #slot.read::<#of>(&mut __given)?; }
    }
}

/// The names a macro gives to the description and the value of the argument at a place.
pub(super) fn names(at: usize) -> (Ident, Ident) {
    (format_ident!("__argument_{at}"), format_ident!("__value_{at}"))
}

/// Whether a type is the call's context, and whether it is borrowed.
fn context(of: &Type) -> Option<bool> {
    match of {
        Type::Path(path) => path.path.segments.last().is_some_and(|last| last.ident == "ToolContext").then_some(false),
        Type::Reference(reference) => context(&reference.elem).map(|_| true),
        _ => None,
    }
}
