//! Estimates whether a passage answers a question, by the words that both have.

use super::talk::{self, Asked, Tongue, folded};
use crate::knowledge::{Passage, is_unspaced};

/// The share of a question's words that an answer has.
const SURE: f64 = 0.6;
/// The share of the words of what may be an answer.
const MAYBE: f64 = 0.45;
/// The factor of the shares in a script without spaces, in which pairs that are no words count as well.
const UNSPACED: f64 = 0.6;

/// Whether a passage answers a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Confidence {
    /// It does not.
    Nothing,
    /// It may: it is shown as such, with its place.
    Maybe,
    /// It does.
    Sure,
}

/// Returns whether a passage answers a question.
pub(super) fn confidence(asked: &Asked, tongue: Tongue, passage: &Passage) -> Confidence {
    let terms = Terms::of(&format!("{}\n{}", passage.title, passage.text), tongue);
    let subject = Terms::of(&passage.title, tongue);
    let own = terms.share_of(&asked.text, tongue);
    let topic = asked.topic.as_deref().filter(|_| asked.is_follow_up);
    let share = match (own, topic) {
        (Some(own), None) => own,
        // A question that points to its topic is about both: its own words must be there as well.
        (own, Some(topic)) => {
            let of_topic = terms.share_of(topic, tongue).unwrap_or(own.unwrap_or_default());
            let both = own.map_or(of_topic, |own| own.min(f64::midpoint(own, of_topic)));
            // A passage whose subject is the question itself is about more than one topic.
            both.max(SURE * subject.share_of(&asked.text, tongue).unwrap_or_default().floor())
        }
        // A question of frequent words only, such as the title "Who are we?"
        (None, None) => terms.share_of_all(&asked.text),
    };
    let factor = if asked.text.chars().any(is_unspaced) { UNSPACED } else { 1.0 };
    // That something is so does not answer why it is not.
    if share >= SURE * factor && !asked.is_negated {
        Confidence::Sure
    } else if share >= MAYBE * factor {
        Confidence::Maybe
    } else {
        Confidence::Nothing
    }
}

/// The words of a passage, and in a script without spaces, the pairs of characters.
struct Terms(Vec<String>);

impl Terms {
    fn of(text: &str, tongue: Tongue) -> Self {
        let all = folded(text);
        Self(terms(text, tongue).into_iter().chain(all.split(' ').map(str::to_owned)).collect())
    }

    /// Returns the share of all words of a text, also of the frequent ones.
    fn share_of_all(&self, text: &str) -> f64 {
        let all = folded(text);
        let words: Vec<String> = all.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect();
        self.share(&words)
    }

    fn share(&self, words: &[String]) -> f64 {
        let found = words.iter().filter(|word| self.0.iter().any(|term| is_same(word, term))).count();
        #[expect(clippy::cast_precision_loss, reason = "a message has few words")]
        let share = found as f64 / words.len().max(1) as f64;
        share
    }

    /// Returns the share of the words of a text that the passage has; `None` for a text without any.
    fn share_of(&self, text: &str, tongue: Tongue) -> Option<f64> {
        let mut asked = terms(text, tongue);
        if asked.iter().any(|word| !is_number(word)) {
            asked.retain(|word| !is_number(word));
        }
        (!asked.is_empty()).then(|| self.share(&asked))
    }
}

/// Returns the words that carry meaning, and in a script without spaces, pairs of characters.
fn terms(text: &str, tongue: Tongue) -> Vec<String> {
    let mut terms = Vec::new();
    for word in talk::meaningful_words(text, tongue) {
        let letters: Vec<char> = word.chars().collect();
        if letters.first().is_some_and(|first| is_unspaced(*first)) && letters.len() > 1 {
            terms.extend(letters.windows(2).map(String::from_iter));
        } else if letters.len() > 1 || !letters.iter().all(char::is_ascii_alphabetic) {
            terms.push(word);
        }
    }
    terms
}

/// Returns whether a word is a number, such as that of an order, or a part of a date.
fn is_number(word: &str) -> bool {
    word.chars().all(char::is_numeric)
}

/// Returns whether two words are forms of one: they are equal, or begin alike for most of their length.
fn is_same(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    let (first, second): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let longer = first.len().max(second.len());
    if first.iter().chain(&second).any(|letter| is_unspaced(*letter) || letter.is_numeric()) {
        return false;
    }
    // Prefixes are written together with the word in Arabic and Hebrew.
    if first.iter().any(|letter| ('\u{590}'..='\u{6ff}').contains(letter)) {
        let (short, long) = if first.len() < second.len() { (one, other) } else { (other, one) };
        let core: String = short.chars().skip(usize::from(short.chars().count() > 4) * 2).collect();
        return core.chars().count() >= 3 && long.contains(&core);
    }
    let alike = first.iter().zip(&second).take_while(|(one, other)| one == other).count();
    let shorter = first.len().min(second.len());
    (alike >= 4 && alike * 2 >= longer) || (alike >= 3 && alike == shorter && longer - alike <= 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn confidence_of(question: &str, title: &str, text: &str) -> Confidence {
        let passage = Passage {
            id: String::new(),
            title: title.to_owned(),
            location: None,
            text: text.to_owned(),
            score: 1.0,
        };
        let asked = talk::Understood::new(question, &[], None).asked.pop().unwrap_or_default();
        confidence(&asked, Tongue::of_message(question, None), &passage)
    }

    #[test]
    fn an_answer_has_most_words_of_the_question() {
        let mugs = ("Are the mugs dishwasher safe?", "Yes, all our mugs are dishwasher safe.");
        for (question, expected) in [
            ("Can I put a mug into the dishwasher?", Confidence::Sure),
            ("Is your mug safe?", Confidence::Sure),
            ("I want to return a mug", Confidence::Maybe),
            ("Is the glaze food safe?", Confidence::Nothing),
            ("Can you print our logo on 200 mugs?", Confidence::Nothing),
            ("Do you sell to the US? I would like to order 3 mugs.", Confidence::Nothing),
            ("The mug is not dishwasher safe", Confidence::Maybe),
            ("", Confidence::Nothing),
        ] {
            assert_eq!(confidence_of(question, mugs.0, mugs.1), expected, "{question}");
        }
        let hours = ("营业时间", "我们周一到周五九点开门。");
        assert_eq!(confidence_of("营业时间是什么？", hours.0, hours.1), Confidence::Sure);
        assert_eq!(confidence_of("可以退货吗？", hours.0, hours.1), Confidence::Nothing);
    }

    #[test]
    fn forms_of_a_word_are_the_same() {
        for (one, other) in
            [("mug", "mugs"), ("arrived", "arrives"), ("ship", "shipping"), ("توصيل", "التوصيل")]
        {
            assert!(is_same(one, other) && is_same(other, one), "{one} {other}");
        }
        for (one, other) in
            [("cat", "car"), ("mug", "much"), ("shoes", "shows"), ("19", "190"), ("print", "prices")]
        {
            assert!(!is_same(one, other), "{one} {other}");
        }
    }
}
