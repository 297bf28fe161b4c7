//! The shop's server: it renders the page, serves its module, and contains the proxy of the chat.
//!
//! `leptos-ssr-shop ASSETS SERVICE` serves the files of the folder `ASSETS` and the proxy of the service at
//! the address `SERVICE`, whose token is in `CONNECTOR_TOKEN`. It prints its own address when it listens.

use std::error::Error;

use axum::Router;
use axum::response::Html;
use axum::routing::get;
use chat_connector::proxy::{self, ProxyOptions};
use leptos::prelude::*;
use leptos_ssr_shop::Shop;
use tokio::net::TcpListener;
use tower_http::services::ServeDir;

const HEAD: &str = r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Clay &amp; Co.</title>
<link rel="icon" href="data:,">
<script type="module" src="/assets/start.mjs"></script>
</head>
<body>"#;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(assets), Some(service)) = (arguments.next(), arguments.next()) else {
        return Err("usage: leptos-ssr-shop ASSETS SERVICE".into());
    };
    let token = std::env::var("CONNECTOR_TOKEN")?;
    let site = Router::new()
        .route("/", get(page))
        .nest("/connector", proxy::router(ProxyOptions::new(service, token.into()))?)
        .nest_service("/assets", ServeDir::new(assets));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}", listener.local_addr()?);
    axum::serve(listener, site).await?;
    Ok(())
}

/// Returns the rendered page.
async fn page() -> Html<String> {
    // Each page has its own reactive owner, which ends with it.
    let owner = Owner::new();
    let body = owner.with(|| view! { <Shop/> }.to_html());
    Html([HEAD, &body, "</body></html>"].concat())
}
