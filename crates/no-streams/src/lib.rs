//! A stub that replaces `wasm-streams` in builds of this workspace.
//!
//! Leptos depends on server functions, which depend on wasm-streams for streaming bodies. The widget has no
//! server functions, but wasm-streams exports three classes to JavaScript, and exports are never removed: 10
//! KB of WebAssembly and 4 KB of unused glue. This crate has the same names and no implementation.
//! Applications that use the published crate get the real one: a `[patch]` applies to its own workspace only.

use std::convert::Infallible;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use wasm_bindgen::JsValue;

/// A stub of the browser's stream.
pub struct ReadableStream(web_sys::ReadableStream);

impl ReadableStream {
    /// Wraps a stream of the browser.
    pub fn from_raw(raw: web_sys::ReadableStream) -> Self {
        Self(raw)
    }

    /// Returns the wrapped stream.
    pub fn into_raw(self) -> web_sys::ReadableStream {
        self.0
    }

    /// Not supported: converts a Rust stream to a stream of the browser.
    ///
    /// # Panics
    /// Always panics, as nothing in this workspace calls it.
    pub fn from_stream<S: Stream<Item = Result<JsValue, JsValue>> + 'static>(_: S) -> Self {
        panic!("the widget has no server functions")
    }

    /// Returns an ended stream.
    pub fn into_stream(self) -> Ended {
        Ended(PhantomData)
    }
}

/// An ended stream.
pub struct Ended(PhantomData<Infallible>);

impl Stream for Ended {
    type Item = Result<JsValue, JsValue>;

    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(None)
    }
}
