//! A person's initials on a colour that depends on the name.

use leptos::prelude::*;

/// The number of colours in `marks.css`.
const COLORS: u32 = 8;

/// The initials of a name, which the style sheet shows: they are no text of the page. Screen readers read the
/// name beside it.
#[component]
pub fn Avatar(#[prop(into)] name: Signal<String>) -> impl IntoView {
    view! {
        <span
            class="avatar"
            aria-hidden="true"
            data-color=move || color(&name.read())
            data-initials=move || initials(&name.read())
        ></span>
    }
}

/// Returns the first letters of at most two words.
fn initials(name: &str) -> String {
    let words =
        name.split_whitespace().filter_map(|word| word.chars().find(|letter| letter.is_alphanumeric()));
    let letters: Vec<char> = words.collect();
    match letters.as_slice() {
        [] => "?".to_owned(),
        [one] => one.to_uppercase().collect(),
        [first, .., last] => first.to_uppercase().chain(last.to_uppercase()).collect(),
    }
}

fn color(name: &str) -> String {
    let hash = name.bytes().fold(5381_u32, |hash, byte| hash.wrapping_mul(33) ^ u32::from(byte));
    (hash % COLORS).to_string()
}

#[cfg(test)]
mod tests {
    use super::initials;

    #[test]
    fn initials_are_the_first_letters_of_the_first_and_the_last_word() {
        for (name, expected) in [
            ("Ada Lovelace", "AL"),
            ("ada", "A"),
            ("", "?"),
            ("J. R. R. Tolkien", "JT"),
            ("(李) 小龙", "李小"),
            ("ßa", "SS"),
        ] {
            assert_eq!(initials(name), expected, "{name}");
        }
    }
}
