//! How a site's server is known to the service: its tokens, the licenses that are
//! exchanged for them, and the secret by which it proves its visitors.

use chat_protocol::admin::settings::Site;
use leptos::prelude::*;

use super::licenses::LicensesCard;
use super::page::Head;
use super::tokens::TokensCard;
use super::visitor_secret::VisitorSecretCard;
use crate::text::settings as t;

/// The page about tokens, licenses and the secret.
#[component]
pub fn Access(site: Site) -> impl IntoView {
    view! {
        <Head title=t::SECTION_ACCESS.get() lead=t::ACCESS_LEAD.get()/>
        <TokensCard site=site.clone()/>
        <VisitorSecretCard site=site.clone()/>
        <LicensesCard site/>
    }
}
