//! Recognises what visitors say in many languages: greetings, thanks, and requests for a person.

/// Phrases that ask for a person, as whole words, folded and in lower case.
const PERSON: &str = "
human|real person|a person|actual person|live person|live agent|live chat|operator|agent|someone|somebody|staff|
representative|callback|call back|call me|call me back|talk to you|speak to|speak with|talk to someone|talk to a|
mensch|menschen|mitarbeiter|mitarbeiterin|berater|beraterin|echte person|mit einer person|mit jemandem|mit jemand|
ruckruf|zuruckrufen|ruft mich|rufen sie mich|kundendienst|kundenservice|
humano|una persona|persona real|agente|operador|asesor|hablar con alguien|hablar con una|llameme|llamenme|
humain|une vraie personne|un conseiller|une conseillere|conseiller|parler a quelqu|parler a une personne|parler avec|
rappelez moi|un agent|
umano|una persona reale|parlare con un operatore|operatore|humana|falar com alguem|atendente|medewerker|
موظف|موظفه|شخص حقيقي|انسان|مندوب|خدمه العملاء|اتحدث مع|اتكلم مع|التحدث مع|التحدث الى|اكلم|اتصلوا بي|ممثل";

/// The same in scripts that do not separate words.
const PERSON_UNSPACED: [&str; 16] = [
    "人工",
    "真人",
    "转接",
    "客服人员",
    "找客服",
    "联系客服",
    "找人",
    "人间客服",
    "給我打電話",
    "给我打电话",
    "人間",
    "担当者",
    "オペレーター",
    "スタッフ",
    "有人対応",
    "電話して",
];

/// First words of a greeting.
const GREETINGS: &str = "hi|hello|hey|hiya|good morning|good afternoon|good evening|good day|hallo|guten tag|guten morgen|
guten abend|moin|servus|gruss gott|hola|buenos dias|buenas tardes|buenas|bonjour|bonsoir|salut|ciao|buongiorno|ola|
bom dia|hej|مرحبا|السلام عليكم|اهلا|صباح الخير|مساء الخير";
const GREETINGS_UNSPACED: [&str; 8] =
    ["你好", "您好", "在吗", "こんにちは", "こんばんは", "おはよう", "はじめまして", "안녕하세요"];

/// First words of thanks.
const THANKS: &str =
    "thank|thanks|thx|cheers|great|perfect|danke|vielen dank|dankeschon|super|gracias|muchas gracias|
merci|grazie|obrigado|obrigada|شكرا|مشكور|جزاك الله";
const THANKS_UNSPACED: [&str; 6] = ["谢谢", "多谢", "感谢", "ありがとう", "助かりました", "감사합니다"];

/// Maximum characters of a message that are read: what it wants is said early.
const MAX_READ: usize = 4000;

/// Returns whether a message asks for a person.
pub(crate) fn wants_person(message: &str) -> bool {
    let folded = folded(message);
    phrases(PERSON).any(|phrase| folded.contains(&format!(" {phrase} ")))
        || PERSON_UNSPACED.iter().any(|phrase| message.contains(phrase))
}

/// Returns whether a message begins with a greeting.
pub(super) fn is_greeting(message: &str) -> bool {
    begins_with(message, GREETINGS, &GREETINGS_UNSPACED)
}

/// Returns whether a message begins with thanks.
pub(super) fn is_thanks(message: &str) -> bool {
    begins_with(message, THANKS, &THANKS_UNSPACED)
}

fn begins_with(message: &str, spaced: &'static str, unspaced: &[&str]) -> bool {
    let folded = folded(message);
    phrases(spaced).any(|phrase| folded.starts_with(&format!(" {phrase} ")))
        || unspaced.iter().any(|phrase| message.trim_start().starts_with(phrase))
}

fn phrases(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.split('|').map(str::trim).filter(|phrase| !phrase.is_empty())
}

/// Returns the folded words of a message, between spaces.
fn folded(message: &str) -> String {
    let message: String = message.chars().take(MAX_READ).collect();
    let mut folded = " ".to_owned();
    for word in crate::knowledge::folded_words(&message) {
        folded.push_str(&word);
        folded.push(' ');
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognises_a_request_for_a_person_in_many_languages() {
        for message in [
            "Can I talk to a real person?",
            "HUMAN PLEASE",
            "call me back",
            "Ich möchte mit einem Menschen sprechen",
            "Bitte um Rückruf",
            "Quiero hablar con una persona",
            "Je voudrais parler à quelqu'un",
            "أريد التحدث مع موظف",
            "转人工",
            "担当者と話したいです",
        ] {
            assert!(wants_person(message), "{message}");
        }
    }

    #[test]
    fn other_messages_are_no_requests_for_a_person() {
        for message in [
            "What does breakfast cost per person?",
            "Was kostet das Frühstück pro Person?",
            "¿Cuánto cuesta por persona?",
            "Is this humane?",
            "كم السعر للشخص؟",
            "课程几个人",
            "",
        ] {
            assert!(!wants_person(message), "{message}");
        }
    }

    #[test]
    fn a_greeting_is_a_whole_word() {
        assert!(is_greeting("Hi!") && is_greeting("مرحباً") && is_greeting("  你好"));
        assert!(!is_greeting("History") && !is_greeting("this is it"));
    }
}
