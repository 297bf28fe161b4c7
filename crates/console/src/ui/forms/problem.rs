//! The service's errors, beside the fields that they are about.

/// An error of a form, as the service says it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problem {
    /// The field that it is about; empty for the form.
    pub field: String,
    /// The text.
    pub text: String,
}

impl Problem {
    /// Reads the service's message, which begins with a field's path ("ai.base must be …") or names it
    /// ("invalid url: expected …"). `fields` are those of the form.
    pub fn read(message: &str, fields: &[&str]) -> Self {
        let rest = strip_prefix_ignoring_case(message, "invalid ").unwrap_or(message);
        let name: String = rest.chars().take_while(|&letter| is_of_path(letter)).collect();
        let after = rest.get(name.len()..).unwrap_or_default();
        let field = fields.iter().filter(|field| covers(&name, field)).max_by_key(|field| field.len());
        match field {
            Some(field) if !name.is_empty() && after.starts_with([' ', ':']) => {
                Self { field: (*field).to_owned(), text: capitalized(after.trim_start_matches([' ', ':'])) }
            }
            _ => Self { field: String::new(), text: capitalized(message) },
        }
    }
}

/// Returns whether the path that the service names is a field's, or lies within it.
fn covers(path: &str, field: &str) -> bool {
    match path.get(..field.len()) {
        Some(start) if start.eq_ignore_ascii_case(field) => {
            path.get(field.len()..).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        }
        _ => false,
    }
}

fn is_of_path(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "._[]".contains(letter)
}

fn strip_prefix_ignoring_case<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let start = text.get(..prefix.len())?;
    if start.eq_ignore_ascii_case(prefix) { text.get(prefix.len()..) } else { None }
}

/// Returns a text whose first letter is a capital one.
pub fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(char::to_uppercase).into_iter().flatten().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(message: &str) -> (String, String) {
        let Problem { field, text } = Problem::read(message, &["name", "ai.base", "ai", "url", "welcome"]);
        (field, text)
    }

    #[test]
    fn a_message_belongs_to_the_field_that_it_names() {
        for (message, field, text) in [
            (
                "name must have 1 to 200 characters on one line.",
                "name",
                "Must have 1 to 200 characters on one line.",
            ),
            ("ai.base must be an address.", "ai.base", "Must be an address."),
            ("ai.timeoutMs must be 1 to 2.", "ai", "Must be 1 to 2."),
            ("invalid url: expected https://.", "url", "Expected https://."),
            ("Invalid Name: expected 1 to 5.", "name", "Expected 1 to 5."),
            ("welcome[2] is too long.", "welcome", "Is too long."),
        ] {
            assert_eq!(read(message), (field.to_owned(), text.to_owned()), "{message}");
        }
    }

    #[test]
    fn other_messages_belong_to_the_form() {
        for message in ["This address has an account here already.", "names are good.", "Ünvalid", "", "name"]
        {
            assert_eq!(read(message).0, "", "{message}");
        }
        assert_eq!(read("this failed").1, "This failed");
    }
}
