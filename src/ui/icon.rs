//! Line icons in a box of 20 by 20, drawn with the colour of the text.

use super::Ui;
use super::dom::El;

pub(crate) const CHAT: &str = "M10 3c-4.28 0-7.25 2.72-7.25 6.2 0 1.98.96 3.72 2.5 4.85v2.7c0 .32.36.5.62.31l2.5-1.76c.53.08 1.07.12 1.63.12 4.28 0 7.25-2.74 7.25-6.22S14.28 3 10 3Z";
pub(crate) const CLOSE: &str = "m5 5 10 10M15 5 5 15";
pub(crate) const CHEVRON_DOWN: &str = "M4.75 7.5 10 12.75l5.25-5.25";
pub(crate) const SEND: &str = "M10 16V4.25M4.75 9.25 10 4l5.25 5.25";
pub(crate) const CHECK: &str = "m4 10.5 4 4 8-9";
pub(crate) const ARROW_DOWN: &str = "M10 4v11.75M4.75 10.75 10 16l5.25-5.25";
pub(crate) const BACK: &str = "M15.75 10H4.25M9.25 4.75 4 10l5.25 5.25";
pub(crate) const MENU: &str = "M4.5 10h.01M10 10h.01M15.5 10h.01";
pub(crate) const ALERT: &str =
    "M16.75 10a6.75 6.75 0 1 1-13.5 0 6.75 6.75 0 0 1 13.5 0ZM10 6.75v4M10 13.4h.01";
pub(crate) const CLOCK: &str = "M16.75 10a6.75 6.75 0 1 1-13.5 0 6.75 6.75 0 0 1 13.5 0ZM10 6.25V10l2.5 1.75";
pub(crate) const PERSON: &str = "M13.25 6.75a3.25 3.25 0 1 1-6.5 0 3.25 3.25 0 0 1 6.5 0ZM3.75 16.75c.5-3.1 3.05-4.75 6.25-4.75s5.75 1.65 6.25 4.75";
pub(crate) const SPARKLE: &str = "M8.75 4.25c.55 3.4 1.85 4.7 5.25 5.25-3.4.55-4.7 1.85-5.25 5.25-.55-3.4-1.85-4.7-5.25-5.25 3.4-.55 4.7-1.85 5.25-5.25ZM15 12.75c.22 1.36.74 1.88 2.1 2.1-1.36.22-1.88.74-2.1 2.1-.22-1.36-.74-1.88-2.1-2.1 1.36-.22 1.88-.74 2.1-2.1Z";
pub(crate) const MAIL: &str =
    "M5 4.5h10a2 2 0 0 1 2 2v7a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2v-7a2 2 0 0 1 2-2ZM3.5 6l6.5 5 6.5-5";
pub(crate) const OFFLINE: &str = "m3.25 3.25 13.5 13.5M6.3 6.35A4.6 4.6 0 0 0 5.5 8.6a3.6 3.6 0 0 0 .75 7.15h8.1M17 13.9a3.4 3.4 0 0 0-2.5-5.3 4.6 4.6 0 0 0-5.2-3.2";

/// Renders an icon, which is hidden from screen readers: the text beside it or the button's name says the
/// same.
pub(crate) fn icon(ui: &Ui, path: &str) -> El {
    let drawing = ui.svg("path").attr("d", path);
    ui.svg("svg")
        .attr("class", "cw-icon")
        .attr("viewBox", "0 0 20 20")
        .attr("aria-hidden", "true")
        .child(drawing)
}
