//! The commands of the palette.

use std::sync::Arc;

use chat_protocol::admin::{Availability, ConversationChange, ConversationView};
use leptos::prelude::*;

use crate::keyboard::{Action, SHORTCUTS, keys_of};
use crate::location::{InboxQuery, Page, Query};
use crate::state::app;
use crate::text::{Text, palette};
use crate::ui::controls::Icon;
use crate::ui::shortcuts::action_name;

/// A part of the palette.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    /// The open conversation, and the list.
    Actions,
    /// The assignee of the open conversation.
    Assign,
    /// The labels of the open conversation.
    Labels,
    /// Pages.
    Pages,
    /// The operator's own state.
    Own,
    /// Conversations that were found.
    Conversations,
}

impl Section {
    pub(super) fn title(self) -> &'static str {
        let title = match self {
            Self::Actions => palette::GROUP_ACTIONS,
            Self::Assign => palette::GROUP_ASSIGN,
            Self::Labels => palette::GROUP_LABELS,
            Self::Pages => palette::GROUP_PAGES,
            Self::Own => palette::GROUP_SELF,
            Self::Conversations => palette::GROUP_CONVERSATIONS,
        };
        title.get()
    }
}

/// Something that can be done.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Command {
    pub(super) section: Section,
    pub(super) name: String,
    /// The hint beside the name.
    pub(super) detail: Option<String>,
    pub(super) symbol: Icon,
    pub(super) keys: Option<&'static str>,
    does: Does,
}

/// What a command does.
#[derive(Clone, Debug, PartialEq)]
enum Does {
    Act(Action),
    Open(Page),
    Change(String, Arc<ConversationChange>),
    Be(Availability),
}

impl Command {
    fn new(section: Section, name: impl Into<String>, symbol: Icon, does: Does) -> Self {
        Self { section, name: name.into(), detail: None, symbol, keys: None, does }
    }

    /// Returns the command that opens a page.
    pub(super) fn open(section: Section, name: impl Into<String>, symbol: Icon, page: Page) -> Self {
        Self::new(section, name, symbol, Does::Open(page))
    }

    /// Returns the command with a text beside its name.
    pub(super) fn beside(self, detail: Option<String>) -> Self {
        Self { detail, ..self }
    }

    /// Carries the command out.
    pub(super) fn run(&self) {
        let app = app();
        match &self.does {
            Does::Act(action) => {
                app.actions.run(*action);
            }
            Does::Open(page) => app.router.open(page.clone()),
            Does::Change(id, change) => app.conversations.change(id, change.as_ref().clone()),
            Does::Be(availability) => app.set_availability(*availability),
        }
    }
}

/// Returns everything that can be done at the moment.
pub(super) fn all() -> Vec<Command> {
    let app = app();
    let mut commands = actions();
    if let Page::Inbox { conversation: Some(id), .. } = app.router.page().get_untracked() {
        commands.extend(assign(&id));
        commands.extend(labels(&id));
    }
    commands.extend(pages());
    commands.extend(own());
    commands
}

fn actions() -> Vec<Command> {
    let app = app();
    let own = [Action::Palette, Action::Escape, Action::Open];
    let offered = SHORTCUTS.into_iter().map(|(action, ..)| action);
    let offered = offered.filter(|action| !own.contains(action) && page_of(*action).is_none());
    let offered = offered.filter(|action| untrack(|| app.actions.is_offered(*action)));
    let commands = offered.map(|action| {
        let does = Does::Act(action);
        let command = Command::new(Section::Actions, action_name(action).get(), symbol_of(action), does);
        Command { keys: keys_of(action), ..command }
    });
    commands.collect()
}

fn assign(id: &str) -> Vec<Command> {
    let app = app();
    let command = |name: &str, operator: &str, symbol| {
        let change = ConversationChange { assignee_id: Some(operator.to_owned()), ..Default::default() };
        Command::new(Section::Assign, name, symbol, Does::Change(id.to_owned(), Arc::new(change)))
    };
    let me = app.session.my_id();
    let mut commands = vec![
        command(palette::ASSIGN_ME.get(), &me, Icon::Person),
        command(palette::ASSIGN_NOBODY.get(), "", Icon::Person),
    ];
    let team = app.directory.read_untracked();
    let others = team.team.iter().filter(|member| member.id != me);
    commands.extend(others.map(|member| command(&member.name, &member.id, Icon::Person)));
    commands
}

fn labels(id: &str) -> Vec<Command> {
    let app = app();
    let chosen = app.conversations.summary(id).with_untracked(|summary| summary.labels.clone());
    let directory = app.directory.read_untracked();
    let commands = directory.labels.iter().map(|label| {
        let mut labels = chosen.clone();
        let name = if chosen.contains(&label.id) {
            labels.retain(|known| *known != label.id);
            palette::LABEL_REMOVE
        } else {
            labels.push(label.id.clone());
            palette::LABEL_ADD
        };
        let change = ConversationChange { labels: Some(labels), ..Default::default() };
        let does = Does::Change(id.to_owned(), Arc::new(change));
        Command::new(Section::Labels, name.with(&[("name", &label.name)]), Icon::Label, does)
    });
    commands.collect()
}

fn pages() -> Vec<Command> {
    let view = |view: ConversationView| {
        let query = InboxQuery { view, ..InboxQuery::default() };
        let page = Page::Inbox { conversation: None, query };
        Command::open(Section::Pages, view_name(view).get(), Icon::Inbox, page)
    };
    let mut commands: Vec<Command> = ConversationView::ALL.into_iter().map(view).collect();
    let page = |action: Action| {
        let (symbol, page) = page_of(action)?;
        let command = Command::open(Section::Pages, action_name(action).get(), symbol, page);
        Some(Command { keys: keys_of(action), ..command })
    };
    let is_admin = untrack(|| app().session.me().is_admin());
    let shown = [Action::GoReports, Action::GoPublishing, Action::GoSettings];
    let shown = shown.into_iter().filter(|action| is_admin || *action != Action::GoPublishing);
    commands.extend(shown.filter_map(page));
    commands.push(Command::open(Section::Pages, palette::GO_ACCOUNT.get(), Icon::Person, Page::Account));
    commands
}

fn own() -> [Command; 3] {
    let command = |name: Text, availability| {
        Command::new(Section::Own, name.get(), Icon::Person, Does::Be(availability))
    };
    [
        command(palette::BE_ONLINE, Availability::Automatic),
        command(palette::BE_AWAY, Availability::Away),
        command(palette::BE_OFFLINE, Availability::Offline),
    ]
}

fn page_of(action: Action) -> Option<(Icon, Page)> {
    match action {
        Action::GoInbox => Some((Icon::Inbox, Page::default())),
        Action::GoReports => Some((Icon::Chart, Page::Reports(Query::default()))),
        Action::GoPublishing => Some((Icon::Publish, Page::Publishing(Vec::new(), Query::default()))),
        Action::GoSettings => Some((Icon::Settings, Page::settings(&[]))),
        _ => None,
    }
}

fn view_name(view: ConversationView) -> Text {
    match view {
        ConversationView::Mine => palette::VIEW_MINE,
        ConversationView::Unassigned => palette::VIEW_UNASSIGNED,
        ConversationView::Open => palette::VIEW_OPEN,
        ConversationView::Waiting => palette::VIEW_WAITING,
        ConversationView::Snoozed => palette::VIEW_SNOOZED,
        ConversationView::Closed => palette::VIEW_CLOSED,
        ConversationView::All => palette::VIEW_ALL,
    }
}

fn symbol_of(action: Action) -> Icon {
    match action {
        Action::Next | Action::Open => Icon::ArrowDown,
        Action::Previous => Icon::Back,
        Action::Reply => Icon::Send,
        Action::Note => Icon::Note,
        Action::Close => Icon::Check,
        Action::Assign | Action::TakeOver | Action::Visitor => Icon::Person,
        Action::Label => Icon::Label,
        Action::Snooze => Icon::Clock,
        Action::Undo => Icon::Undo,
        Action::Help => Icon::Keyboard,
        _ => Icon::Search,
    }
}
