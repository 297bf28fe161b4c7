//! Stories of a conversation, in one tab and in several.

mod events;
mod late_words;
mod leading;
mod reading;
mod sending;
mod several_tabs;
mod site;
mod storage;
