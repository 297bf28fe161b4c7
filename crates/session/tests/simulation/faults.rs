//! Faults of the browser: pages, network and storage fail, and the machine sleeps.

use chat_session::Input;

use super::engine::Simulation;
use super::invariants::Violation;
use super::stats::Fact;
use super::storage::StorageMode;
use super::tab::{Life, TabId};

impl Simulation {
    /// Causes a fault of a page.
    pub fn disturb_page(&mut self, id: TabId) -> Result<(), Violation> {
        if let Some(frozen) = self.frozen()
            && self.rng.bool()
        {
            return self.restore(frozen);
        }
        let visible = self.tabs[id.0].visible;
        if self.tabs[id.0].hangs {
            // A page that hangs can only be closed.
            self.crash(id);
            return Ok(());
        }
        match self.rng.u8(..6) {
            0 => self.crash(id),
            1 => {
                let ms = self.rng.u64(100..8_000);
                self.hang(id, ms);
            }
            2 => self.leave(id, Life::Gone)?,
            3 => self.leave(id, Life::Frozen)?,
            // Navigation: the earlier page goes into the back-forward cache.
            4 => {
                self.leave(id, Life::Frozen)?;
                self.load_in(50, visible);
            }
            _ => {
                self.leave(id, Life::Gone)?;
                let ms = self.rng.u64(..500);
                self.load_in(ms, visible);
            }
        }
        Ok(())
    }

    pub fn frozen(&mut self) -> Option<TabId> {
        let frozen: Vec<TabId> =
            self.tabs.iter().filter(|tab| tab.life == Life::Frozen).map(|tab| tab.id).collect();
        self.rng.choice(frozen)
    }

    /// The machine loses its network, or finds it.
    pub fn set_online(&mut self, online: bool) -> Result<(), Violation> {
        self.online = online;
        for index in 0..self.tabs.len() {
            self.feed(TabId(index), Input::Online(online))?;
        }
        Ok(())
    }

    pub fn disturb_storage(&mut self) {
        if self.scenario.storage_is_cleared && self.rng.u8(..4) == 0 {
            self.trace.note(self.now_ms, "browser", || "clears the storage".to_owned());
            self.scenario.storage_is_cleared = false;
            self.storage.clear();
            self.storage_fails();
            self.stats.count(Fact::StorageCleared);
        } else if self.scenario.storage != StorageMode::Reliable {
            let sound = self.storage.mode != StorageMode::Reliable;
            self.storage.mode = if sound { StorageMode::Reliable } else { self.scenario.storage };
            let mode = self.storage.mode;
            self.trace.note(self.now_ms, "browser", || format!("storage is {mode:?}"));
            if !sound {
                self.storage_fails();
            }
        }
    }

    /// Causes a rare event.
    pub fn cause_rare_event(&mut self, id: TabId) -> Result<(), Violation> {
        match self.rng.u8(..4) {
            0 if std::mem::take(&mut self.scenario.machine_sleeps) => self.sleep(),
            1 if std::mem::take(&mut self.scenario.resets) => {
                self.stats.count(Fact::VisitorErased);
                self.feed(id, Input::Reset)
            }
            2 if self.scenario.switched_off => {
                self.service.on = !self.service.on;
                if !self.service.on {
                    self.stats.count(Fact::SwitchedOff);
                }
                self.feed(id, Input::ReloadConfig)
            }
            3 if self.scenario.purges && self.service.purge() => {
                self.trace.note(self.now_ms, "service", || "purges the conversation".to_owned());
                self.stats.count(Fact::ConversationPurged);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn sleep(&mut self) -> Result<(), Violation> {
        let ms = self.rng.u64(60_000..7_200_000);
        self.stats.count(Fact::MachineSlept);
        for index in 0..self.tabs.len() {
            if self.tabs[index].is_awake() {
                self.hang(TabId(index), ms);
            }
        }
        self.advance(ms)
    }
}
