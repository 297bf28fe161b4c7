//! An empty `wasm-streams`, for this workspace's own builds.
//!
//! Leptos depends on server functions, and they on wasm-streams, for bodies that stream. The widget has no server
//! functions; but wasm-streams exports three classes to JavaScript, and what is exported is never left out: 10 KB of
//! WebAssembly and 4 KB of glue that nobody can call. This crate has the same names and does nothing.
//! Applications that use the published crate get the real one: a `[patch]` holds for its own workspace only.

use std::convert::Infallible;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use wasm_bindgen::JsValue;

/// In place of a stream of the browser.
pub struct ReadableStream(web_sys::ReadableStream);

impl ReadableStream {
    /// Keeps the stream as it is.
    pub fn from_raw(raw: web_sys::ReadableStream) -> Self {
        Self(raw)
    }

    /// Gives the stream back.
    pub fn into_raw(self) -> web_sys::ReadableStream {
        self.0
    }

    /// Would make a stream of the browser from one of Rust.
    ///
    /// # Panics
    /// Always: nothing in this workspace sends one.
    pub fn from_stream<S: Stream<Item = Result<JsValue, JsValue>> + 'static>(_: S) -> Self {
        panic!("the widget has no server functions")
    }

    /// A stream that has ended.
    pub fn into_stream(self) -> Ended {
        Ended(PhantomData)
    }
}

/// A stream that has ended.
pub struct Ended(PhantomData<Infallible>);

impl Stream for Ended {
    type Item = Result<JsValue, JsValue>;

    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(None)
    }
}
