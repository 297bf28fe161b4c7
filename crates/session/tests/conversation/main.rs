//! Stories of a conversation, in one tab and in several.

mod consent;
mod contact;
mod deferral;
mod echoes;
mod events;
mod hostile;
mod late_words;
mod leading;
mod pace;
mod reading;
mod replies;
mod sending;
mod several_tabs;
mod site;
mod storage;
mod visitors;
mod waiting;
