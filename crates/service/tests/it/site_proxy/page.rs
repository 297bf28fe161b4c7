//! A page that calls the proxy paths of a site.

use axum::body::Body;
use axum::http::Request;
use axum::http::request::Builder;
use chat_service::{Service, ServiceOptions, SiteChange};
use serde_json::{Value, json};

use crate::support::databases::TestDatabase;
use crate::support::{Answer, Client, options};

/// The origin of the site's pages.
pub const SHOP: &str = "https://shop.example";
/// The origin of the service.
pub const SERVICE: &str = "https://chat.example";

/// Opens a service at [`SERVICE`], with a site whose pages are at [`SHOP`].
pub async fn shop(database: &TestDatabase) -> Client {
    shop_with(ServiceOptions { public_origin: Some(SERVICE.to_owned()), ..options(database) }).await
}

pub async fn shop_with(options: ServiceOptions) -> Client {
    Client::with(options, pages_at(&[SHOP])).await
}

/// Creates a further site of a service.
pub async fn site_of(service: &Service, origins: &[&str]) -> Client {
    Client::of(service.clone(), pages_at(origins)).await
}

fn pages_at(origins: &[&str]) -> SiteChange {
    serde_json::from_value(json!({ "allowedOrigins": origins })).expect("settings")
}

/// Returns a request without any header but the host.
pub fn request(client: &Client, method: &str, path: &str) -> Builder {
    request_of(&client.site.id, method, path)
}

fn request_of(site_id: &str, method: &str, path: &str) -> Builder {
    let uri = format!("/connector/{site_id}{path}");
    Request::builder().method(method).uri(uri).header("host", "chat.example")
}

/// Returns a request of a page in a browser.
pub fn of_page(client: &Client, method: &str, path: &str, origin: &str) -> Builder {
    of_page_of(&client.site.id, method, path, origin)
}

/// Returns a request of a page in a browser to a site that may not exist.
pub fn of_page_of(site_id: &str, method: &str, path: &str, origin: &str) -> Builder {
    request_of(site_id, method, path).header("origin", origin).header("sec-fetch-site", "cross-site")
}

/// Reads a path for a page of the shop.
pub async fn get(client: &Client, path: &str) -> Answer {
    client.send(of_page(client, "GET", path, SHOP).body(Body::empty()).expect("a request")).await
}

/// Posts a body for a page of the shop.
pub async fn post(client: &Client, path: &str, body: &Value) -> Answer {
    let request = of_page(client, "POST", path, SHOP).header("content-type", "application/json");
    client.send(request.body(Body::from(body.to_string())).expect("a request")).await
}

/// Sends the preflight of a request with a JSON body.
pub async fn preflight(client: &Client, path: &str, origin: &str) -> Answer {
    let request = of_page(client, "OPTIONS", path, origin)
        .header("access-control-request-method", "POST")
        .header("access-control-request-headers", "content-type,idempotency-key");
    client.send(request.body(Body::empty()).expect("a request")).await
}
