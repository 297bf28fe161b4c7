//! Building blocks of forms: what is loaded, fields, dialogs with forms, texts to copy.

mod confirm;
mod copy;
mod dialog;
mod draft;
mod field;
mod form;
mod problem;
mod remote;
mod unsaved;

pub use confirm::Confirm;
pub use copy::{CopyButton, SecretOnce, secret_or};
pub use dialog::Dialog;
pub(crate) use draft::draft;
pub use draft::{Editing, Fields, changed, filled, lines};
pub use field::{SelectField, Switch, TextArea, TextField};
pub use form::{DialogForm, Form, FormProblem, FormState, SaveBar, unique_id};
pub use problem::capitalized;
pub use remote::{LoadError, Loaded, Remote, Skeleton};
pub use unsaved::Unsaved;
