//! Scenarios of a conversation, in one tab and in several.

mod consent;
mod contact;
mod deferral;
mod earlier_version;
mod echoes;
mod election;
mod events;
mod fixture;
mod history;
mod hostile;
mod pace;
mod persons;
mod remote_pending;
mod replies;
mod sending;
mod several_tabs;
mod shown_state;
mod storage;
mod tab_messages;
mod visitors;
mod waiting;
