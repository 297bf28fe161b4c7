//! The service by its APIs: one program, as each is linked with the whole service.

mod connector_api;
mod console;
mod inbox;
mod isolation;
mod site_proxy;
mod storage;
mod support;
#[cfg(feature = "test-mode")]
mod test_mode;
