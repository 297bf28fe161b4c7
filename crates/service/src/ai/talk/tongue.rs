//! Tells the language of a message.

use super::fold::folded;
use super::table::Tongue;

/// The languages of the Latin script, which their words and letters tell apart.
const LATIN: [&str; 11] = ["en", "de", "fr", "es", "it", "pt", "nl", "pl", "tr", "id", "vi"];
/// Letters that one of them writes and the others do not.
const LETTERS: [(&str, &str); 7] = [
    ("de", "ß"),
    ("es", "ñ¿¡"),
    ("pt", "ãõ"),
    ("fr", "œùû"),
    ("pl", "łąęśżźćń"),
    ("tr", "ğşı"),
    ("vi", "ơưđăạảấầẩậắằặẻẽẹếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỷỹỵ"),
];
/// Characters of traditional Chinese that simplified Chinese writes otherwise.
const TRADITIONAL: &str =
    "們個這說請問謝貨買賣錢運費訂單與嗎麼沒還時間開關門聯繫絡電話號碼對話員務專線轉實體驗幫點後來會話";
/// Characters of simplified Chinese that traditional Chinese writes otherwise.
const SIMPLIFIED: &str =
    "们个这说请问谢货买卖钱运费订单与吗么没还时间开关门联络电话号码对话员务专线转实体验帮点来会";
/// The weight of a letter that tells the language, compared with a word.
const LETTER_WEIGHT: usize = 2;

impl Tongue {
    /// Returns the language of a text, if the text tells it; `expected` decides between those that fit alike.
    pub(super) fn told(text: &str, expected: Self) -> Option<Self> {
        let mut is_latin = false;
        let mut tag = None;
        for letter in text.chars().filter(|letter| letter.is_alphabetic()) {
            match script(letter) {
                Some("zh") => {
                    tag.get_or_insert("zh");
                }
                // A Japanese sentence contains Chinese characters.
                Some("ja") => tag = Some("ja"),
                Some(of) => {
                    tag.get_or_insert(of);
                }
                None => is_latin |= letter.is_ascii() || ('\u{c0}'..='\u{24f}').contains(&letter),
            }
        }
        match tag {
            Some("zh") => Some(chinese(text, expected)),
            Some(tag) => Self::of_tag(tag),
            None if is_latin => latin(text, expected),
            None => None,
        }
    }

    /// Returns whether words of this language may be in a text.
    pub(super) fn may_be_in(self, text: &str) -> bool {
        let mut letters = text.chars().filter(|letter| letter.is_alphabetic());
        let tag = self.tag();
        if LATIN.contains(&tag) {
            return letters.any(|letter| script(letter).is_none());
        }
        letters.any(|letter| match script(letter) {
            Some("zh") => matches!(tag, "zh" | "zh-TW" | "ja"),
            of => of == Some(tag),
        })
    }
}

/// Returns the tag of the language in whose script alone a letter is; `zh` for Chinese characters.
fn script(letter: char) -> Option<&'static str> {
    Some(match letter {
        '\u{3040}'..='\u{30ff}' => "ja",
        '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' => "zh",
        '\u{ac00}'..='\u{d7a3}' | '\u{3130}'..='\u{318f}' => "ko",
        '\u{e00}'..='\u{e7f}' => "th",
        '\u{900}'..='\u{97f}' => "hi",
        '\u{590}'..='\u{5ff}' => "he",
        '\u{600}'..='\u{6ff}' => "ar",
        '\u{400}'..='\u{52f}' => "ru",
        _ => return None,
    })
}

fn chinese(text: &str, expected: Tongue) -> Tongue {
    let count = |list: &str| {
        let letters = text.chars().filter(|letter| list.contains(*letter));
        letters.count()
    };
    let (traditional, simplified) = (count(TRADITIONAL), count(SIMPLIFIED));
    let tag = match traditional.cmp(&simplified) {
        std::cmp::Ordering::Greater => "zh-TW",
        std::cmp::Ordering::Equal if matches!(expected.tag(), "zh" | "zh-TW" | "ja") => return expected,
        _ => "zh",
    };
    Tongue::of_tag(tag).unwrap_or(expected)
}

fn latin(text: &str, expected: Tongue) -> Option<Tongue> {
    let folded = folded(text);
    let lower = text.to_lowercase();
    let hits = |tongue: Tongue| {
        let table = tongue.table();
        let words = folded.split(' ').filter(|word| table.is_frequent(word)).count();
        let own = LETTERS.iter().find(|(tag, _)| *tag == tongue.tag()).map_or("", |(_, letters)| letters);
        words + LETTER_WEIGHT * lower.chars().filter(|letter| own.contains(*letter)).count()
    };
    let counted: Vec<(Tongue, usize)> =
        LATIN.into_iter().filter_map(Tongue::of_tag).map(|tongue| (tongue, hits(tongue))).collect();
    let most = counted.iter().map(|(_, hits)| *hits).max().filter(|most| *most > 0)?;
    let best = |tongue: &Tongue| counted.iter().any(|(one, hits)| one == tongue && *hits == most);
    if best(&expected) {
        return Some(expected);
    }
    let mut fitting = counted.iter().filter(|(_, hits)| *hits == most).map(|(tongue, _)| *tongue);
    fitting.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_the_language_of_short_messages() {
        for (text, tag) in [
            ("How much is a mug?", "en"),
            ("Was kostet eine Tasse?", "de"),
            ("Combien coûte une tasse ?", "fr"),
            ("¿Cuánto cuesta una taza?", "es"),
            ("Quanto costa una tazza?", "it"),
            ("Quanto custa uma caneca?", "pt"),
            ("Hoeveel kost een mok?", "nl"),
            ("Ile kosztuje kubek?", "pl"),
            ("Bir kupa ne kadar?", "tr"),
            ("Berapa harga cangkir ini?", "id"),
            ("Cái cốc này giá bao nhiêu?", "vi"),
            ("Сколько стоит кружка?", "ru"),
            ("كم سعر الكوب؟", "ar"),
            ("כמה עולה הספל?", "he"),
            ("मग की कीमत क्या है?", "hi"),
            ("แก้วราคาเท่าไหร่", "th"),
            ("머그컵은 얼마예요?", "ko"),
            ("マグカップはいくらですか", "ja"),
            ("这个杯子多少钱？", "zh"),
            ("這個杯子多少錢？", "zh-TW"),
        ] {
            assert_eq!(Tongue::told(text, Tongue::default()).map(Tongue::tag), Some(tag), "{text}");
        }
    }

    #[test]
    fn the_language_of_the_page_decides_where_a_message_does_not() {
        let german = Tongue::of_tag("de").expect("a language");
        for text in ["Spa?", "?", "4711"] {
            assert_eq!(Tongue::told(text, german), None, "{text}");
        }
        let japanese = Tongue::of_tag("ja").expect("a language");
        assert_eq!(Tongue::told("料金", japanese), Some(japanese));
    }
}
