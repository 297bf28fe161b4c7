//! Small building blocks of all pages.

mod avatar;
mod dialog;
mod icon;
mod menu;
mod rendered;

pub use avatar::Avatar;
pub use dialog::{Confirm, Dialog};
pub use icon::{Icon, icon};
pub use menu::{Menu, MenuItem};
pub use rendered::Rendered;
