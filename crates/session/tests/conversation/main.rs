//! Stories of a conversation, in one tab and in several.

mod one_tab;
mod several_tabs;
mod site;
