//! What an author reads when an operation is declared wrongly, and where it points.

use proc_macro2::TokenStream;
use quote::quote;

use super::expand;

/// The message of the only fault of an impl with this method.
fn fault(method: &TokenStream) -> String {
    let out = expand(quote! { prefix = "desk" }, quote! { impl Desk { #method } });
    let text = out.map_or_else(|error| error.into_compile_error().to_string(), |tokens| tokens.to_string());
    let told = text.split_once("compile_error ! {").unwrap_or_else(|| panic!("nothing is wrong: {text}")).1;
    told.split_once('}').unwrap().0.trim().trim_matches('"').to_owned()
}

#[test]
fn each_wrong_use_names_its_fix() {
    let cases = [
        (quote! { pub async fn a(&self) -> Result<u8, E> { b() } }, "mark it `#[operation]`"),
        (quote! { /** A. */ #[operation] fn a(&self) -> Result<u8, E> { b() } }, "an operation is an `async fn`"),
        (quote! { /** A. */ #[operation] async fn a() -> Result<u8, E> { b() } }, "an operation takes `&self`"),
        (quote! { /** A. */ #[operation] async fn a(&mut self) -> Result<u8, E> { b() } }, "calls run side by side"),
        (quote! { /** A. */ #[operation] async fn a(&self) { b() } }, "returns `Result<T, scion::ApiError>`"),
        (quote! { #[operation] async fn a(&self) -> Result<u8, E> { b() } }, "write a doc comment"),
        (
            quote! { /** A. */ #[operation] async fn a(&self, x: &str) -> Result<u8, E> { b() } },
            "`String` rather than `&str`",
        ),
        (quote! { /** A. */ #[operation] async fn a<T>(&self, x: T) -> Result<u8, E> { b() } }, "no type parameters"),
        (
            quote! { /** A. */ #[operation(gte = "/a")] async fn a(&self) -> Result<u8, E> { b() } },
            "did you mean `get`?",
        ),
        (
            quote! { /** A. */ #[operation(get = "a")] async fn a(&self) -> Result<u8, E> { b() } },
            "a path begins with `/`",
        ),
        (
            quote! { /** A. */ #[operation(get = "/a/{id}")] async fn a(&self) -> Result<u8, E> { b() } },
            "names `id`, which is no argument",
        ),
        (
            quote! { /** A. */ #[operation(get = "/a", post = "/a")] async fn a(&self) -> Result<u8, E> { b() } },
            "one HTTP method",
        ),
        (
            quote! { /** A. */ #[operation(post = "/a", source(record = "R", id = "id"))] async fn a(&self) -> Result<u8, E> { b() } },
            "only an operation that reads",
        ),
        (
            quote! { /** A. */ #[operation(source(record = "R"))] async fn a(&self) -> Result<u8, E> { b() } },
            "the field that identifies one",
        ),
        (
            quote! { /** A. */ #[operation] async fn a(&self, #[arg(defualt = 1)] x: u8) -> Result<u8, E> { b() } },
            "did you mean `default`?",
        ),
        (quote! { fn a(&self) -> u8 { 1 } }, "there is no operation here"),
    ];
    for (method, words) in cases {
        let told = fault(&method);
        assert!(told.contains(words), "{method}: {told}");
    }
}

#[test]
fn other_items_stay_as_they_are() {
    let other = quote! { pub fn url(&self) -> &str { &self.url } };
    let out = expand(
        TokenStream::new(),
        quote! { impl Desk { #other /** A. */ #[operation(delete = "/a")] async fn a(&self) -> Result<u8, E> { b() } } },
    );
    let text = out.unwrap_or_else(|error| panic!("{error}")).to_string();
    assert!(
        text.contains(&other.to_string())
            && !text.contains("operation (delete")
            && text.contains("DESTROYS : bool = true"),
        "{text}"
    );
}
