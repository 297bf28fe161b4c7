//! Several tabs of one browser: one storage, one channel, one clock.

use chat_protocol::Endpoint;
use chat_session::{Input, Page, Reports, Start};

use super::{Tab, json};

/// The tabs that live.
pub struct Browser {
    pub tabs: Vec<Tab>,
    pub storage: Vec<(String, String)>,
    pub now_ms: u64,
}

impl Browser {
    /// A browser with this many tabs, opened one after the other and all of them visible.
    pub fn with(tabs: usize) -> Self {
        let mut browser = Self { tabs: Vec::new(), storage: Vec::new(), now_ms: 0 };
        for _ in 0..tabs {
            browser.open(Start::default());
        }
        browser
    }

    /// Two tabs with a conversation that the first began, and nothing unanswered.
    pub fn in_conversation() -> Self {
        let mut browser = Self::with(2);
        browser.say(0, "hello");
        browser.wait(400);
        let leader = browser.leaders()[0];
        browser.with_tab(leader, |tab| tab.reply(1, "hi"));
        browser
    }

    /// Opens another tab, visible, and gives its index.
    pub fn open(&mut self, start: Start) -> usize {
        let index = self.begin(start);
        self.wait(1_000);
        index
    }

    /// The same, before any time has passed.
    pub fn begin(&mut self, start: Start) -> usize {
        let seed = 100 + self.tabs.len() as u64 + self.now_ms;
        let start = Start { seed: seed.into(), reports: Reports::Auto, visible: true, online: true, ..start };
        self.tabs.push(Tab::begin(start, self.storage.clone(), self.now_ms));
        self.talk();
        self.tabs.len() - 1
    }

    /// What one tab does, and what the others hear of it.
    pub fn with_tab<T>(&mut self, index: usize, act: impl FnOnce(&mut Tab) -> T) -> T {
        let done = act(&mut self.tabs[index]);
        self.talk();
        done
    }

    pub fn feed(&mut self, index: usize, input: Input) {
        self.with_tab(index, |tab| tab.feed(input));
    }

    pub fn say(&mut self, index: usize, text: &str) {
        self.feed(index, Input::Send { text: text.into(), page_path: "/rooms".into() });
    }

    pub fn look(&mut self, index: usize, open: bool) {
        self.feed(index, Input::Opened(open, Page::default()));
    }

    /// The tab ends without a word.
    pub fn crash(&mut self, index: usize) {
        self.tabs.remove(index);
    }

    /// The tab is closed.
    pub fn close(&mut self, index: usize) {
        self.feed(index, Input::PageHidden);
        self.tabs.remove(index);
    }

    /// The machine stops the tab for a while.
    pub fn stop(&mut self, index: usize) {
        self.tabs[index].stopped = true;
    }

    /// The tab goes on: its timers run, and it has not heard yet what the others told it in the meantime.
    pub fn wake(&mut self, index: usize) {
        self.tabs[index].now_ms = self.now_ms;
        self.with_tab(index, |tab| tab.wait(0));
    }

    /// The tab goes on. What the others told it in the meantime comes before its timers run.
    pub fn go_on(&mut self, index: usize) {
        let now_ms = self.now_ms;
        self.with_tab(index, |tab| {
            tab.stopped = false;
            tab.now_ms = now_ms;
            for message in std::mem::take(&mut tab.unheard) {
                tab.feed(Input::TabMessage(message));
            }
            tab.wait(0);
        });
    }

    /// Delivers what was told, until nobody has anything to say.
    fn talk(&mut self) {
        loop {
            for tab in &mut self.tabs {
                for (key, text) in std::mem::take(&mut tab.stores) {
                    self.storage.retain(|(known, _)| *known != key);
                    self.storage.extend(text.map(|text| (key, text)));
                }
            }
            let said: Vec<(usize, String)> = (self.tabs.iter_mut().enumerate())
                .flat_map(|(index, tab)| {
                    std::mem::take(&mut tab.posts).into_iter().map(move |post| (index, post))
                })
                .collect();
            if said.is_empty() {
                return;
            }
            for (speaker, post) in said {
                for (index, tab) in self.tabs.iter_mut().enumerate() {
                    if index == speaker || tab.deaf {
                        continue;
                    }
                    if tab.stopped {
                        tab.unheard.push(json(&post));
                    } else {
                        tab.feed(Input::TabMessage(json(&post)));
                    }
                }
            }
        }
    }

    /// Lets time pass for all tabs.
    pub fn wait(&mut self, ms: u64) {
        self.talk();
        let until = self.now_ms + ms;
        while self.now_ms < until {
            let step = (until - self.now_ms).min(20);
            self.now_ms += step;
            for tab in self.tabs.iter_mut().filter(|tab| !tab.stopped) {
                tab.wait(step);
            }
            self.talk();
        }
    }

    /// The tabs that lead.
    pub fn leaders(&self) -> Vec<usize> {
        (0..self.tabs.len()).filter(|index| self.tabs[*index].session.leads()).collect()
    }

    /// How many requests of this kind each tab has made.
    pub fn counts(&self, endpoint: Endpoint) -> Vec<usize> {
        self.tabs.iter().map(|tab| tab.count(endpoint)).collect()
    }
}
