//! The arguments of a query.

use chat_protocol::{ConversationId, JobId, Value};
use sqlx::query::Query;
use sqlx::{Database, Encode, SqlStr, Type};

/// An argument. `None` is NULL, of the argument's type.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Arg {
    Text(Option<String>),
    /// A number, a time in milliseconds since 1970, or a boolean as 0 or 1.
    Int(Option<i64>),
    Bytes(Option<Vec<u8>>),
}

/// Lists the arguments of a query.
macro_rules! args {
    ($($value:expr),* $(,)?) => { vec![$($crate::db::Arg::from($value)),*] };
}
pub(crate) use args;

macro_rules! from {
    ($($type:ty => $variant:ident |$value:ident| $converted:expr;)*) => {
        $(
            impl From<$type> for Arg {
                fn from($value: $type) -> Self {
                    Self::$variant(Some($converted))
                }
            }

            impl From<Option<$type>> for Arg {
                fn from(value: Option<$type>) -> Self {
                    Self::$variant(value.map(|$value| $converted))
                }
            }
        )*
    };
}

/// Replaces NUL characters, which PostgreSQL does not store in texts.
fn without_nul(text: String) -> String {
    if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text }
}

from! {
    &str => Text |text| without_nul(text.to_owned());
    String => Text |text| without_nul(text);
    &String => Text |text| without_nul(text.clone());
    &ConversationId => Text |id| without_nul(id.as_str().to_owned());
    &JobId => Text |id| without_nul(id.as_str().to_owned());
    &Value => Text |value| value.to_string();
    i64 => Int |number| number;
    i32 => Int |number| number.into();
    u32 => Int |number| number.into();
    bool => Int |flag| flag.into();
    Vec<u8> => Bytes |bytes| bytes;
    &[u8] => Bytes |bytes| bytes.to_vec();
    [u8; 32] => Bytes |bytes| bytes.to_vec();
    &[u8; 32] => Bytes |bytes| bytes.to_vec();
}

/// Returns a query with its arguments.
pub(super) fn bind<D>(sql: SqlStr, args: Vec<Arg>) -> Query<'static, D, D::Arguments>
where
    D: Database,
    Option<String>: Encode<'static, D> + Type<D>,
    Option<i64>: Encode<'static, D> + Type<D>,
    Option<Vec<u8>>: Encode<'static, D> + Type<D>,
{
    args.into_iter().fold(sqlx::query(sql), |query, arg| match arg {
        Arg::Text(text) => query.bind(text),
        Arg::Int(number) => query.bind(number),
        Arg::Bytes(bytes) => query.bind(bytes),
    })
}
