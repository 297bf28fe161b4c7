//! The numbers of a chart as a table, for those who want to read them.

use leptos::prelude::*;

use crate::text::{Text, reports};

/// A table that opens below a chart.
#[component]
pub(super) fn Numbers(
    /// What the table is about.
    title: Text,
    /// The heads of the columns.
    heads: Vec<String>,
    /// The cells. The first one of each row is its head.
    rows: Vec<Vec<String>>,
) -> impl IntoView {
    let rows = rows.into_iter().map(|cells| {
        let mut cells = cells.into_iter();
        let head = cells.next().unwrap_or_default();
        view! {
            <tr>
                <th scope="row"><bdi>{head}</bdi></th>
                {cells.map(|cell| view! { <td>{cell}</td> }).collect_view()}
            </tr>
        }
    });
    view! {
        <details class="numbers">
            <summary>{reports::SHOW_NUMBERS.get()}</summary>
            <div class="numbers-scroll" tabindex="0" role="region" aria-label=title.get()>
                <table>
                    <caption class="for-readers">{title.get()}</caption>
                    <thead>
                        <tr>{heads.into_iter().map(|head| view! { <th scope="col">{head}</th> }).collect_view()}</tr>
                    </thead>
                    <tbody>{rows.collect_view()}</tbody>
                </table>
            </div>
        </details>
    }
}
