//! One method of the impl.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{Attribute, Expr, FnArg, Ident, ImplItemFn, Lit, Meta, Result, ReturnType, Type, Visibility};

use super::argument::{Argument, names};
use super::attribute::Said;

/// An operation, read from its method.
pub(super) struct Method {
    ident: Ident,
    said: Said,
    description: String,
    arguments: Vec<Argument>,
    returns: Type,
    conditions: Vec<Attribute>,
}

impl Method {
    /// Reads a method and takes the attributes away that only this macro knows; `None` for one that is no operation.
    pub(super) fn take(function: &mut ImplItemFn) -> Result<Option<Self>> {
        let (known, others): (Vec<Attribute>, Vec<Attribute>) = std::mem::take(&mut function.attrs)
            .into_iter()
            .partition(|attribute| attribute.path().segments.last().is_some_and(|last| last.ident == "operation"));
        function.attrs = others;
        let signature = &function.sig;
        let [attribute] = &*known else {
            if let Some(second) = known.get(1) {
                return Err(syn::Error::new_spanned(second, "`#[operation]` stands twice"));
            }
            let public = matches!(function.vis, Visibility::Public(_));
            if public && signature.asyncness.is_some() && signature.receiver().is_some() {
                let message = format!(
                    "`{}` is a public method of an operations impl and would be a tool: mark it `#[operation]`, or \
                     `#[operation(skip)]` to keep it from callers",
                    signature.ident
                );
                return Err(syn::Error::new_spanned(&signature.ident, message));
            }
            return Ok(None);
        };
        let said = Said::read(attribute)?;
        if said.skip {
            return Ok(None);
        }
        if signature.asyncness.is_none() {
            return Err(syn::Error::new_spanned(signature.fn_token, "an operation is an `async fn`"));
        }
        if let Some(generic) = signature.generics.params.first() {
            return Err(syn::Error::new_spanned(generic, "an operation has no type parameters: a tool has one schema"));
        }
        match signature.inputs.first() {
            Some(FnArg::Receiver(receiver)) if receiver.reference.is_some() && receiver.mutability.is_none() => {}
            Some(FnArg::Receiver(receiver)) => {
                return Err(syn::Error::new_spanned(receiver, "an operation takes `&self`: calls run side by side"));
            }
            _ => return Err(syn::Error::new_spanned(&signature.ident, "an operation takes `&self`")),
        }
        let returns = match &signature.output {
            ReturnType::Type(_, of) => (**of).clone(),
            ReturnType::Default => {
                let message = "an operation returns `Result<T, scion::ApiError>`";
                return Err(syn::Error::new_spanned(&signature.ident, message));
            }
        };
        let description = doc_text(&function.attrs);
        if description.is_empty() {
            let message = "a tool needs a description: write a doc comment (`/// List a user's repositories.`)";
            return Err(syn::Error::new_spanned(&signature.ident, message));
        }
        let ident = signature.ident.clone();
        let conditions = function.attrs.iter().filter(|attribute| attribute.path().is_ident("cfg")).cloned().collect();
        let mut arguments = Vec::new();
        for argument in &mut function.sig.inputs {
            if let FnArg::Typed(typed) = argument {
                arguments.push(Argument::take(typed)?);
            }
        }
        let method = Self { ident, said, description, arguments, returns, conditions };
        method.check()?;
        Ok(Some(method))
    }

    fn values(&self) -> impl Iterator<Item = &super::argument::Value> {
        self.arguments.iter().filter_map(|argument| match argument {
            Argument::Value(value) => Some(&**value),
            Argument::Context { .. } => None,
        })
    }

    fn check(&self) -> Result<()> {
        if let Some((_, path)) = &self.said.verb {
            let text = path.value();
            if !text.starts_with('/') {
                return Err(syn::Error::new(path.span(), "a path begins with `/`; the base URL is the client's"));
            }
            for name in text.split('{').skip(1).map(|rest| rest.split('}').next().unwrap_or_default()) {
                if !self.values().any(|value| value.name == name) {
                    let message = format!("the path names `{name}`, which is no argument of `{}`", self.ident);
                    return Err(syn::Error::new(path.span(), message));
                }
            }
        }
        let writes = self.said.verb.as_ref().is_some_and(|(verb, _)| verb != "get" && verb != "head");
        if let (Some((span, _)), true) = (&self.said.source, writes || self.said.destructive == Some(true)) {
            return Err(syn::Error::new(*span, "only an operation that reads can be a source"));
        }
        Ok(())
    }

    pub(super) fn destroys(&self) -> bool {
        let deletes = self.said.verb.as_ref().is_some_and(|(verb, _)| verb == "delete");
        self.said.destructive.unwrap_or(deletes)
    }

    /// The statements that bind it.
    pub(super) fn bind(&self, domain: &str) -> TokenStream {
        let Self { ident, said, description, returns, conditions, .. } = self;
        let plain = ident.unraw().to_string();
        let name = said.name.as_ref().map_or_else(|| plain.clone(), syn::LitStr::value);
        let domain = said.domain.as_ref().map_or_else(|| domain.to_owned(), syn::LitStr::value);
        let verb = said.verb();
        let mut described = TokenStream::new();
        let (mut slots, mut reads, mut passed) = (Vec::new(), Vec::new(), Vec::new());
        for (at, argument) in self.arguments.iter().enumerate() {
            let (slot, value) = names(at);
            match argument {
                Argument::Context { borrowed: true } => passed.push(quote! { &__context }),
                Argument::Context { borrowed: false } => {
                    passed.push(quote! { ::core::clone::Clone::clone(&__context) });
                }
                Argument::Value(of) => {
                    let expression = of.describe();
                    described.extend(quote! { let #slot = ::std::sync::Arc::new(#expression); });
                    reads.push(of.read_into(&slot, &value));
                    slots.push(slot);
                    passed.push(quote! { #value });
                }
            }
        }
        let mut more = TokenStream::new();
        if let Some(text) = &said.title {
            more.extend(quote! { .title(#text) });
        }
        if let Some(text) = &said.version {
            more.extend(quote! { .version(#text) });
        }
        if let Some(flag) = said.destructive {
            more.extend(quote! { .destructive(#flag) });
        }
        if said.requires_actor {
            more.extend(quote! { .requires_actor() });
        }
        let output = quote_spanned! { returns.span() => <#returns as ::scion::serve::OperationAnswer>::output() };
        let answer = quote_spanned! { returns.span() => <#returns as ::scion::serve::OperationAnswer>::answer };
        // The source is read off the output schema, so it comes last.
        let records = said.source.as_ref().map(|(_, source)| quote! { let __bound = __bound.records(#source); });
        quote! {
            #(#conditions)*
            {
                #described
                let __operation = ::scion::domain::tool_surface::Operation {
                    method: ::std::string::String::from(#name),
                    domain: ::std::string::String::from(#domain),
                    description: ::std::string::String::from(#description),
                    verb: #verb,
                    sent: ::std::vec::Vec::new(),
                    inputs: ::scion::domain::tool_surface::OperationInputs::of(::std::vec![#(#slots.field()),*]),
                };
                let __shared = ::std::sync::Arc::clone(&__api);
                let __bound = ::scion::serve::BoundOperation::new(__operation, move |__context, __args| {
                    let __api = ::std::sync::Arc::clone(&__shared);
                    #(let #slots = ::std::sync::Arc::clone(&#slots);)*
                    async move {
                        #[allow(unused_mut, unused_variables)]
                        let mut __given = __args.into_object();
                        #[allow(unused_variables)]
                        let __context = __context;
                        #(#reads)*
                        #answer(__api.#ident(#(#passed),*).await, #name)
                    }
                }) #more;
                let __bound = match #output {
                    ::core::option::Option::Some(schema) => __bound.output_schema(schema),
                    ::core::option::Option::None => __bound,
                };
                #records
                __all.push(__bound);
            }
        }
    }
}

/// The text of doc comments, without their common indentation.
pub(super) fn doc_text(attributes: &[Attribute]) -> String {
    let mut lines = Vec::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("doc")) {
        if let Meta::NameValue(pair) = &attribute.meta
            && let Expr::Lit(literal) = &pair.value
            && let Lit::Str(text) = &literal.lit
        {
            lines.extend(text.value().lines().map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end().to_owned()));
        }
    }
    lines.join("\n").trim().to_owned()
}
