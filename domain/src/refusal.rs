//! Refusals: every "no" of the product as a closed enum with a stable code.
//!
//! A refusal says what was refused, where, who is to blame and whether trying again can help. It never carries a
//! secret, a payload or the text of a peer's error. [`refusals!`](crate::refusals!) is the one way to declare a family of them, so that
//! each has a code, a [`Display`](std::fmt::Display), an [`Error`](std::error::Error), a serialised form and an
//! entry in the generated catalogue (`docs/src/refusals.md`).

use serde::Serialize;

/// For [`refusals!`] only, so that a crate which declares refusals needs no `serde` of its own.
#[doc(hidden)]
pub use serde as __serde;

/// Who has to change something for the operation to succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Blame {
    /// The caller: its input, its configuration or its code.
    CallerMistake,
    /// The peer: a server, a vendor or a store broke its side of the contract.
    PeerMisbehaved,
    /// Nobody's contract was broken; something needed is not reachable or not ready.
    Unavailable,
    /// A policy or an authority said no.
    Denied,
}

/// Whether trying the same operation again can succeed without anyone changing anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Retry {
    /// The same request gets the same answer.
    Never,
    /// A later attempt can succeed; back off first.
    Later,
    /// The outcome is unknown: read the state before deciding to send again.
    AfterReadback,
}

/// One row of the refusal catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CatalogueEntry {
    /// The enum that owns the code.
    pub family: &'static str,
    /// The stable wire code.
    pub code: &'static str,
    /// Who is to blame.
    pub blame: Blame,
    /// Whether a retry can help.
    pub retry: Retry,
    /// The message with its placeholders.
    pub message: &'static str,
    /// What to do next.
    pub next: &'static str,
}

/// What every refusal can answer.
pub trait Refusal: std::error::Error + Send + Sync + 'static {
    /// The stable wire code, for example `unknown_source`.
    fn code(&self) -> &'static str;
    /// Who is to blame.
    fn blame(&self) -> Blame;
    /// Whether a retry can help.
    fn retry(&self) -> Retry;
    /// One line that says what to do next.
    fn next_step(&self) -> &'static str;
}

/// Declares a closed enum of refusals.
///
/// Each variant lists its named fields, then `=> code, blame, retry, message, next step;`. The message is a format
/// string over the fields.
///
/// ```
/// scion_domain::refusals! {
///     /// What the kettle refuses.
///     pub enum KettleRefusal {
///         /// There is no water in it.
///         Dry { litres: u32 } => "kettle_dry", CallerMistake, Never,
///             "the kettle holds {litres} litres", "fill it first";
///     }
/// }
/// use scion_domain::refusal::Refusal;
/// let no = KettleRefusal::Dry { litres: 0 };
/// assert_eq!((no.code(), no.to_string().as_str()), ("kettle_dry", "the kettle holds 0 litres"));
/// ```
#[macro_export]
macro_rules! refusals {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident {
            $(
                $(#[$vmeta:meta])*
                $variant:ident $({ $( $(#[$fmeta:meta])* $field:ident : $ty:ty ),* $(,)? })?
                    => $code:literal, $blame:ident, $retry:ident, $message:literal, $next:literal ;
            )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        $vis enum $name {
            $(
                $(#[$vmeta])*
                #[allow(missing_docs)]
                $variant $({ $( $(#[$fmeta])* $field : $ty ),* })?
            ),*
        }

        impl $name {
            /// Every refusal of this family, for the catalogue.
            $vis const CATALOGUE: &'static [$crate::refusal::CatalogueEntry] = &[
                $( $crate::refusal::CatalogueEntry {
                    family: stringify!($name),
                    code: $code,
                    blame: $crate::refusal::Blame::$blame,
                    retry: $crate::refusal::Retry::$retry,
                    message: $message,
                    next: $next,
                } ),*
            ];

            /// The catalogue row of this value.
            $vis const fn entry(&self) -> &'static $crate::refusal::CatalogueEntry {
                match self {
                    $( Self::$variant { .. } => &$crate::refusal::CatalogueEntry {
                        family: stringify!($name),
                        code: $code,
                        blame: $crate::refusal::Blame::$blame,
                        retry: $crate::refusal::Retry::$retry,
                        message: $message,
                        next: $next,
                    } ),*
                }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                match self {
                    $( Self::$variant $({ $( $field ),* })? => {
                        $( $( let _ = $field; )* )?
                        ::std::write!(f, $message)
                    } ),*
                }
            }
        }

        impl ::std::error::Error for $name {}

        impl $crate::refusal::Refusal for $name {
            fn code(&self) -> &'static str { self.entry().code }
            fn blame(&self) -> $crate::refusal::Blame { self.entry().blame }
            fn retry(&self) -> $crate::refusal::Retry { self.entry().retry }
            fn next_step(&self) -> &'static str { self.entry().next }
        }

        impl $crate::refusal::__serde::Serialize for $name {
            fn serialize<S: $crate::refusal::__serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use $crate::refusal::__serde::ser::SerializeStruct;
                let entry = self.entry();
                let mut out = serializer.serialize_struct(stringify!($name), 5)?;
                out.serialize_field("code", entry.code)?;
                out.serialize_field("message", &self.to_string())?;
                out.serialize_field("blame", &entry.blame)?;
                out.serialize_field("retry", &entry.retry)?;
                out.serialize_field("next", entry.next)?;
                out.end()
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::{Blame, Refusal, Retry};

    refusals! {
        /// A family with both variant shapes.
        enum SampleRefusal {
            /// Has fields.
            Wrong { name: String, limit: usize } => "sample_wrong", CallerMistake, Never,
                "{name} is over {limit}", "use a shorter name";
            /// Has none.
            Gone => "sample_gone", Unavailable, Later, "the thing is gone", "try later";
        }
    }

    #[test]
    fn a_refusal_answers_code_message_blame_retry_and_next_step() {
        let wrong = SampleRefusal::Wrong { name: "x".into(), limit: 3 };
        assert_eq!(wrong.to_string(), "x is over 3");
        assert_eq!((wrong.code(), wrong.blame(), wrong.retry()), ("sample_wrong", Blame::CallerMistake, Retry::Never));
        assert_eq!(SampleRefusal::Gone.next_step(), "try later");
        assert_eq!(SampleRefusal::CATALOGUE.len(), 2);
        let wire = serde_json::to_value(&wrong).unwrap();
        assert_eq!(wire["code"], "sample_wrong");
        assert_eq!(wire["blame"], "caller_mistake");
    }
}
