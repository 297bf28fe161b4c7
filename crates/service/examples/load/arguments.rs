//! The command line: a command, options as `--name value`, and further words.

use std::str::FromStr;

use crate::USAGE;

/// Options without a value.
const FLAGS: [&str; 1] = ["json"];

/// A parsed command line. Options are taken one by one, so that unknown ones are left over.
#[derive(Debug, Default)]
pub(crate) struct Arguments {
    pub(crate) command: String,
    options: Vec<(String, String)>,
    pub(crate) words: Vec<String>,
}

impl Arguments {
    pub(crate) fn parse(mut given: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut arguments = Self { command: given.next().ok_or(USAGE)?, ..Self::default() };
        while let Some(word) = given.next() {
            match word.strip_prefix("--") {
                Some(name) if FLAGS.contains(&name) => arguments.options.push((name.into(), String::new())),
                Some(name) => {
                    let value = given.next().ok_or_else(|| format!("--{name} has no value\n{USAGE}"))?;
                    arguments.options.push((name.into(), value));
                }
                None => arguments.words.push(word),
            }
        }
        Ok(arguments)
    }

    /// Takes all values of an option.
    pub(crate) fn all(&mut self, name: &str) -> Vec<String> {
        let (taken, left) =
            std::mem::take(&mut self.options).into_iter().partition(|(other, _)| other == name);
        self.options = left;
        taken.into_iter().map(|(_, value)| value).collect()
    }

    /// Takes the last value of an option.
    pub(crate) fn optional(&mut self, name: &str) -> Option<String> {
        self.all(name).pop()
    }

    /// Takes the value of an option that must be given.
    pub(crate) fn required(&mut self, name: &str) -> Result<String, String> {
        self.optional(name).ok_or_else(|| format!("--{name} is missing\n{USAGE}"))
    }

    /// Takes the value of an option, or else the default.
    pub(crate) fn parsed<T: FromStr>(&mut self, name: &str, default: T) -> Result<T, String> {
        match self.optional(name) {
            None => Ok(default),
            Some(text) => text.parse().map_err(|_| format!("invalid --{name}: got {text}\n{USAGE}")),
        }
    }

    /// Fails if an option was not taken.
    pub(crate) fn finish(&self) -> Result<(), String> {
        match self.options.first() {
            None => Ok(()),
            Some((name, _)) => Err(format!("unknown option --{name}\n{USAGE}")),
        }
    }
}
