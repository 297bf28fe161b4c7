//! Finds the phone numbers in a message, and tells them from dates, hours, order numbers and the like.

use std::ops::Range;

use phonenumber::country::Id;

/// Maximum characters of a number with its separators.
const MAX_LENGTH: usize = 40;
/// Maximum characters before a number in which a word tells what it is.
const MAX_LABEL_LENGTH: usize = 30;
/// Minimum digits of a number that nothing marks as one, but which is the whole message.
const MIN_DIGITS_ALONE: usize = 9;
/// The digits of a number.
const DIGITS: std::ops::RangeInclusive<usize> = 7..=15;

/// Beginnings of words before a phone number.
const PHONE_LABELS: &str = "phone mobile cell call ring reach whatsapp my_number text_me telefon handy mobil anruf rückruf
    ruf meine_nummer erreich téléphone portable appel joindre mon_numéro teléfono móvil celular llam mi_número cellulare
    chiam numero_è telefone telemóvel ligue ligar meu_número bel gsm mijn_nummer zadzwo komórk mój_numer ara cep numaram
    telepon hp hubungi wa nomor_saya điện_thoại gọi sđt số_của тел звон номер_телефона мой_номер هاتف جوال اتصل رقمي تلفون
    טלפון נייד התקשר המספר_שלי फोन फ़ोन कॉल मोबाइल मेरा_नंबर โทร เบอร์ 전화 휴대폰 번호는 電話 携帯 电话 手机 手機 致电 tel fon";
/// Beginnings of words before other numbers.
const OTHER_LABELS: &str = "order invoice ean gtin isbn iban upc sku tracking parcel ups dhl fedex ref item article model
    serial customer card account vat ip version bestell auftrag rechnung sendung paket artikel kunden konto ust commande
    facture colis suivi client compte pedido factura envío cliente cuenta ordine fattura spedizione conto encomenda fatura
    rastre bestelling factuur zending klant zamówien faktur przesył klient sipariş kargo pesanan faktur resi đơn mã_vận
    заказ счёт счет трек артикул накладн طلب فاتورة شحنة حساب הזמנה חשבונית משלוח ऑर्डर बिल ट्रैकिंग คำสั่งซื้อ พัสดุ ใบแจ้ง 주문 송장 운송장
    注文 伝票 追跡 订单 訂單 运单 運單 发票 發票 快递单 room zimmer price preis";

/// Countries whose numbers are recognised where nothing tells the visitor's.
const ANYWHERE: [Id; 14] = [
    Id::DE,
    Id::GB,
    Id::US,
    Id::FR,
    Id::ES,
    Id::IT,
    Id::NL,
    Id::PL,
    Id::AT,
    Id::CH,
    Id::BR,
    Id::IN,
    Id::JP,
    Id::CN,
];

/// The countries in which a number without a country code may be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Countries(Vec<Id>);

impl Countries {
    /// Returns the countries that hints tell: language tags such as `de-AT`, country codes, and hosts or
    /// addresses of websites.
    pub(crate) fn of<'a>(hints: impl IntoIterator<Item = &'a str>) -> Self {
        let mut countries = Vec::new();
        for hint in hints {
            if let Some(country) = country_of(hint)
                && !countries.contains(&country)
            {
                countries.push(country);
            }
        }
        Self(countries)
    }

    fn all(&self) -> &[Id] {
        if self.0.is_empty() { &ANYWHERE } else { &self.0 }
    }
}

fn country_of(hint: &str) -> Option<Id> {
    let host = hint.split_once("://").map_or(hint, |(_, rest)| rest);
    let host = host.split(['/', ':']).next().unwrap_or_default();
    let code = host.rsplit(['.', '-', '_']).next().unwrap_or_default().to_ascii_uppercase();
    let is_tag = !host.contains('.');
    // A language alone does not tell the country.
    let is_language = is_tag && !hint.contains(['-', '_']) && hint != code;
    // These are the hosts of companies everywhere.
    let is_everywhere = !is_tag && matches!(code.as_str(), "IO" | "AI" | "CO" | "ME" | "TV");
    if code.len() != 2 || is_language || is_everywhere {
        return None;
    }
    if code == "UK" { Some(Id::GB) } else { code.parse().ok() }
}

/// Returns the phone numbers in a text, whether each is certainly one, and where it stands.
pub(super) fn numbers(text: &str, countries: &Countries) -> Vec<(String, bool, Range<usize>)> {
    let plain: Vec<(usize, char)> =
        text.char_indices().filter_map(|(at, letter)| Some((at, plain(letter)?))).collect();
    let mut found = Vec::new();
    let mut from = 0;
    while from < plain.len() {
        if !is_of_number(plain[from].1) {
            from += 1;
            continue;
        }
        let end = plain[from..].iter().position(|(_, letter)| !is_of_number(*letter));
        let end = end.map_or(plain.len(), |length| from + length);
        for part in parts(&plain, from..end) {
            if let Some(is_certain) = is_number(text, &plain, part.clone(), countries) {
                let number = plain[part.clone()].iter().map(|(_, letter)| letter).collect();
                let stop = plain.get(part.end).map_or(text.len(), |(at, _)| *at);
                found.push((number, is_certain, plain[part.start].0..stop));
            }
        }
        from = end;
    }
    found
}

/// Returns the ASCII form of a character of a number; `None` for marks that are not seen.
fn plain(letter: char) -> Option<char> {
    Some(match letter {
        '\u{ad}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{2069}'
        | '\u{feff}' => {
            return None;
        }
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{3000}' => ' ',
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{ff0d}' | '\u{30fc}' => '-',
        '\u{ff0b}' => '+',
        '\u{ff08}' => '(',
        '\u{ff09}' => ')',
        '\u{ff0f}' => '/',
        '\u{ff0e}' => '.',
        other => digit(other).unwrap_or(other),
    })
}

/// Returns the ASCII digit of a decimal digit of another script.
fn digit(letter: char) -> Option<char> {
    const ZEROS: [u32; 6] = [0x660, 0x6f0, 0x966, 0x9e6, 0xe50, 0xff10];
    let zero = ZEROS.into_iter().find(|zero| (*zero..*zero + 10).contains(&u32::from(letter)))?;
    char::from_digit(u32::from(letter) - zero, 10)
}

fn is_of_number(letter: char) -> bool {
    letter.is_ascii_digit() || " +-()/.".contains(letter)
}

/// Splits a run of digits and separators at dates, hours, and at a `+`.
fn parts(plain: &[(usize, char)], run: Range<usize>) -> Vec<Range<usize>> {
    let mut parts: Vec<Range<usize>> = Vec::new();
    let mut open: Option<Range<usize>> = None;
    let mut at = run.start;
    while at < run.end {
        let end =
            plain[at..run.end].iter().position(|(_, letter)| *letter == ' ').map_or(run.end, |to| at + to);
        let word: String = plain[at..end].iter().map(|(_, letter)| letter).collect();
        if is_date_or_hour(&word) {
            parts.extend(open.take());
        } else if word.starts_with('+') || word.starts_with("(+") {
            parts.extend(open.replace(at..end));
        } else if !word.is_empty() {
            open = Some(open.map_or(at..end, |open| open.start..end));
        }
        at = end + 1;
    }
    parts.extend(open);
    let is_end = |letter: char| letter.is_ascii_digit() || "+(".contains(letter);
    parts.retain_mut(|part| {
        while part.start < part.end && !is_end(plain[part.start].1) {
            part.start += 1;
        }
        while part.start < part.end && !plain[part.end - 1].1.is_ascii_digit() {
            part.end -= 1;
        }
        part.start < part.end
    });
    parts
}

/// Returns whether a word is a date, or an hour, or a range of them.
fn is_date_or_hour(word: &str) -> bool {
    let word = word.trim_matches(|letter: char| !letter.is_ascii_digit());
    let is_number = |text: &str, lengths: std::ops::RangeInclusive<usize>, most: u32| {
        lengths.contains(&text.len()) && text.parse().is_ok_and(|number: u32| number <= most)
    };
    let groups: Vec<&str> = word.split(['.', '/', '-']).collect();
    match groups.as_slice() {
        [day, month] => {
            (is_number(day, 1..=2, 31) && is_number(month, 1..=2, 59))
                || (is_number(day, 4..=4, 2200) && is_number(month, 1..=2, 12))
        }
        [year, month, day] if year.len() == 4 => is_number(month, 1..=2, 12) && is_number(day, 1..=2, 31),
        [day, month, year] => {
            let is_year = year.len() == 4 && (year.starts_with("19") || year.starts_with("20"));
            is_number(day, 1..=2, 31) && is_number(month, 1..=2, 31) && (is_year || year.len() == 2)
        }
        // Two hours: 08.00-18.00. Two dates: 24.12.-27.12.
        [a, b, c, d] if !word.starts_with("00") => {
            let is_pair = |one: &str, two: &str| is_number(one, 2..=2, 31) && is_number(two, 2..=2, 59);
            word.contains('-') && is_pair(a, b) && is_pair(c, d)
        }
        _ => false,
    }
}

/// Returns whether a run is a phone number, and then, whether it is certainly one.
fn is_number(text: &str, plain: &[(usize, char)], part: Range<usize>, countries: &Countries) -> Option<bool> {
    let run: String = plain[part.clone()].iter().map(|(_, letter)| letter).collect();
    let digits: String = run.chars().filter(char::is_ascii_digit).collect();
    let before = part.start.checked_sub(1).map_or(' ', |at| plain[at].1);
    let after = plain.get(part.end).map_or(' ', |(_, letter)| *letter);
    let is_glued = |letter: char| letter.is_ascii_alphanumeric() || "@_#$€£%=".contains(letter);
    if run.len() > MAX_LENGTH || !DIGITS.contains(&digits.len()) || is_glued(before) || is_glued(after) {
        return None;
    }
    let label = label(text.get(..plain[part.start].0).unwrap_or_default());
    if label == Label::Other {
        return None;
    }
    let is_labelled = label == Label::Phone;
    let international = run.trim_start_matches('(').starts_with('+');
    if international || digits.starts_with("00") {
        let number = if international { format!("+{digits}") } else { format!("+{}", &digits[2..]) };
        let is_valid = phonenumber::parse(None, number).is_ok_and(|number| number.is_valid());
        return (is_valid || (international && digits.len() > 7)).then_some(is_valid);
    }
    let is_ip = run.split('.').count() == 4 && run.split('.').all(|group| group.parse::<u8>().is_ok());
    if is_ip && !is_labelled {
        return None;
    }
    let is_local = digits.starts_with('0');
    let is_alone = digits.len() >= MIN_DIGITS_ALONE
        && !plain.iter().enumerate().any(|(at, (_, letter))| !part.contains(&at) && letter.is_alphanumeric());
    let is_certain = is_local || is_labelled || is_alone || is_north_american(&run);
    if !is_certain || (!is_local && !is_labelled && is_article(&digits)) {
        return None;
    }
    let is_valid =
        |country: &Id| phonenumber::parse(Some(*country), &digits).is_ok_and(|number| number.is_valid());
    countries.all().iter().any(is_valid).then_some(true)
}

/// Returns whether digits are grouped as in (212) 555-1234.
fn is_north_american(run: &str) -> bool {
    let run = run.strip_prefix("1-").or(run.strip_prefix("1 ")).unwrap_or(run);
    let groups: Vec<usize> = run
        .split(|letter: char| !letter.is_ascii_digit())
        .map(str::len)
        .filter(|length| *length > 0)
        .collect();
    groups == [3, 3, 4]
}

/// Returns whether digits are an EAN, a GTIN or an ISBN: their last digit is the check of the others.
fn is_article(digits: &str) -> bool {
    if !matches!(digits.len(), 8 | 12 | 13 | 14) {
        return false;
    }
    let values = digits.bytes().rev().map(|digit| u32::from(digit - b'0'));
    let sum: u32 =
        values.enumerate().map(|(place, value)| if place % 2 == 1 { 3 * value } else { value }).sum();
    sum.is_multiple_of(10)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Label {
    Phone,
    Other,
    None,
}

/// Returns what the words before a number say that it is; of several, the nearest.
fn label(before: &str) -> Label {
    let length = before.chars().count().saturating_sub(MAX_LABEL_LENGTH);
    let before: String = before.chars().skip(length).collect::<String>().to_lowercase();
    let nearest = |labels: &str| {
        let positions = labels.split_whitespace().filter_map(|label| {
            let label = label.replace('_', " ");
            let mut found = before.rmatch_indices(label.as_str()).map(|(at, _)| at);
            found.find(|at| begins_word(&before, *at))
        });
        positions.max()
    };
    match (nearest(PHONE_LABELS), nearest(OTHER_LABELS)) {
        (None, None) => Label::None,
        (phone, other) if phone >= other => Label::Phone,
        _ => Label::Other,
    }
}

/// Returns whether a word begins at a position; in scripts without spaces, any character may.
fn begins_word(text: &str, at: usize) -> bool {
    let before = text[..at].chars().next_back();
    let first = text[at..].chars().next().unwrap_or(' ');
    before.is_none_or(|before| !before.is_alphanumeric()) || crate::knowledge::is_unspaced(first)
}

/// Returns the digits of a number without its country code and leading zeros, by which two spellings of one
/// number are compared.
pub(super) fn national(number: &str, countries: &Countries) -> String {
    let digits: String = number.chars().filter(char::is_ascii_digit).collect();
    let number =
        if number.trim_start_matches('(').starts_with('+') { format!("+{digits}") } else { digits.clone() };
    let country = countries.all().first().copied();
    let parsed = phonenumber::parse(country, number);
    parsed.map_or(digits, |parsed| parsed.national().value().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phones(text: &str, hints: &[&str]) -> Vec<(String, bool)> {
        let found = numbers(text, &Countries::of(hints.iter().copied()));
        found.into_iter().map(|(number, is_certain, _)| (number, is_certain)).collect()
    }

    #[test]
    fn finds_phone_numbers_in_messages() {
        for (text, hints, number) in [
            ("Ring me on +44 20 7946 0991.", &[][..], "+44 20 7946 0991"),
            ("call 030/901820, please", &[], "030/901820"),
            ("My phone is +49 171 7654321", &["de"], "+49 171 7654321"),
            ("What does shipping cost? 0170 1234567", &["shop.de"], "0170 1234567"),
            ("0170\u{a0}123\u{202f}4567", &["de-DE"], "0170 123 4567"),
            ("+49 170–1234567", &[], "+49 170-1234567"),
            ("رقمي ٠١٠٠١٢٣٤٥٦٧", &["ar-EG"], "01001234567"),
            ("電話は０９０－１２３４－５６７８です", &["ja-JP"], "090-1234-5678"),
            ("电话13812345678谢谢", &["zh-CN"], "13812345678"),
            ("(212) 555-1234 is mine", &["en-US"], "(212) 555-1234"),
            ("01 42 68 53 00", &["https://boutique.fr"], "01 42 68 53 00"),
            ("Je suis au 01.42.68.53.00", &["fr-FR"], "01.42.68.53.00"),
            ("call me at 9876543210", &["en-IN"], "9876543210"),
            ("Open on 01.05.2026? My number is 0171 7654321", &["de-AT", "de-DE"], "0171 7654321"),
            ("0043 1 5880010", &["at"], "0043 1 5880010"),
        ] {
            assert_eq!(phones(text, hints), [(number.to_owned(), true)], "{text}");
        }
    }

    #[test]
    fn other_numbers_are_no_phone_numbers() {
        for text in [
            "Are you open on 01.05.2026?",
            "Room 24.12. - 27.12.2026 free?",
            "05/06/2026 at noon?",
            "next market 2026-05-01 10:00?",
            "Where is my order 4500123456789?",
            "my order number is 0301234567",
            "Is EAN 4006381333931 in stock?",
            "4006381333931",
            "open 08.00 - 18.00?",
            "open 08.00-18.00?",
            "my IP is 192.168.100.100",
            "ISBN 978-3-16-148410-0",
            "Do you have 978-3-16-148410-0?",
            "UPS 1Z999AA10123456784",
            "tracking 00340434161094021501",
            "invoice 2026-000123",
            "IBAN DE89 3704 0044 0532 0130 00",
            "pay to DE89370400440532013000",
            "GB82 WEST 1234 5698 7654 32",
            "order 20417",
            "it cost 129.00, not 119.00",
            "by 2026-10-05",
            "between 1000 and 2500 pieces, 19.99 - 24.99",
            "card 4111 1111 1111 1111",
            "Bestellung 0301234567 ist nicht da",
            "我的订单号是13812345678",
            "12345678901234567890",
            "20 x 30 x 40",
            "2 000 000",
        ] {
            for hints in [&[][..], &["de-DE"], &["en-US"], &["en-GB"]] {
                assert_eq!(phones(text, hints), [], "{text} {hints:?}");
            }
        }
    }

    #[test]
    fn a_number_that_cannot_be_is_doubtful() {
        assert_eq!(phones("+1 555 0100 22", &[]), [("+1 555 0100 22".to_owned(), false)]);
        assert_eq!(phones("call 0000000", &[]), []);
    }

    #[test]
    fn hints_tell_countries() {
        let ids = |hints: &[&str]| Countries::of(hints.iter().copied()).0;
        assert_eq!(
            ids(&["de-AT", "shop.co.uk", "https://x.ch:8443/a", "FR"]),
            [Id::AT, Id::GB, Id::CH, Id::FR]
        );
        assert_eq!(ids(&["de", "shop.example", "shop.com", "app.io", "", "zh-Hant", "Austria"]), []);
    }
}
