//! The built-in assistant's own phrases, in the visitor's language.

use crate::knowledge::Language;

/// The sentences of a language.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Phrases {
    pub(crate) greeting: &'static str,
    pub(crate) thanks: &'static str,
    /// The answer to a request for a person, when nobody could reach the visitor yet.
    pub(crate) ask_for_contact: &'static str,
    /// The answer to a request for a person whose details are known.
    pub(crate) handoff: &'static str,
    pub(crate) contact_noted: &'static str,
    pub(crate) no_answer: &'static str,
    /// The answer while the AI fails (4.13).
    pub(crate) fallback: &'static str,
}

const ENGLISH: Phrases = Phrases {
    greeting: "Hello! What would you like to know? If you would rather talk to a person, just say so.",
    thanks: "You are welcome. I am here if anything else comes up.",
    ask_for_contact: "Of course. Leave your e-mail address or phone number here, and one of us will get back to you. \
                      If somebody is online, they will answer right in this chat.",
    handoff: "Of course. I have your details and have told the team; somebody will get back to you, or answer right \
              in this chat.",
    contact_noted: "Thank you, I have noted that. One of us will get back to you.",
    no_answer: "I found nothing about that on this site. I can pass your question on: leave your e-mail address, and \
                one of us will answer.",
    fallback: "I cannot answer right now. Leave your e-mail address, and one of us will write to you.",
};

const GERMAN: Phrases = Phrases {
    greeting: "Hallo! Was möchten Sie wissen? Wenn Sie lieber mit einem Menschen sprechen, sagen Sie es einfach.",
    thanks: "Gern geschehen. Wenn noch etwas ist, bin ich da.",
    ask_for_contact: "Natürlich. Hinterlassen Sie hier Ihre E-Mail-Adresse oder Telefonnummer, dann melden wir uns bei \
                      Ihnen. Wenn jemand online ist, bekommen Sie die Antwort gleich in diesem Chat.",
    handoff: "Natürlich. Ihre Angaben liegen mir vor und ich habe das Team informiert; jemand meldet sich bei Ihnen oder \
              antwortet gleich in diesem Chat.",
    contact_noted: "Danke, das habe ich notiert. Wir melden uns bei Ihnen.",
    no_answer: "Dazu habe ich auf dieser Website nichts gefunden. Ich gebe Ihre Frage gern weiter: Hinterlassen Sie Ihre \
                E-Mail-Adresse, dann antworten wir Ihnen.",
    fallback: "Ich kann gerade nicht antworten. Hinterlassen Sie Ihre E-Mail-Adresse, dann schreiben wir Ihnen.",
};

const SPANISH: Phrases = Phrases {
    greeting: "¡Hola! ¿Qué le gustaría saber? Si prefiere hablar con una persona, dígamelo.",
    thanks: "De nada. Aquí estoy si necesita algo más.",
    ask_for_contact: "Por supuesto. Deje aquí su correo electrónico o su teléfono y nos pondremos en contacto con usted. \
                      Si hay alguien en línea, le responderá en este chat.",
    handoff: "Por supuesto. Tengo sus datos y he avisado al equipo; alguien se pondrá en contacto con usted o le \
              responderá en este chat.",
    contact_noted: "Gracias, lo he anotado. Nos pondremos en contacto con usted.",
    no_answer: "No he encontrado nada sobre eso en este sitio. Puedo pasar su pregunta: deje su correo electrónico y le \
                responderemos.",
    fallback: "Ahora mismo no puedo responder. Deje su correo electrónico y le escribiremos.",
};

const FRENCH: Phrases = Phrases {
    greeting: "Bonjour ! Que souhaitez-vous savoir ? Si vous préférez parler à une personne, dites-le simplement.",
    thanks: "Je vous en prie. Je reste là si vous avez une autre question.",
    ask_for_contact: "Bien sûr. Laissez ici votre adresse e-mail ou votre numéro de téléphone, et nous vous \
                      recontacterons. Si quelqu'un est en ligne, il répondra dans cette discussion.",
    handoff: "Bien sûr. J'ai vos coordonnées et j'ai prévenu l'équipe ; quelqu'un vous recontactera ou répondra dans \
              cette discussion.",
    contact_noted: "Merci, c'est noté. Nous vous recontacterons.",
    no_answer: "Je n'ai rien trouvé à ce sujet sur ce site. Je peux transmettre votre question : laissez votre adresse \
                e-mail et nous vous répondrons.",
    fallback: "Je ne peux pas répondre pour le moment. Laissez votre adresse e-mail et nous vous écrirons.",
};

const ARABIC: Phrases = Phrases {
    greeting: "مرحباً! ماذا تود أن تعرف؟ إذا كنت تفضل التحدث مع شخص من فريقنا فأخبرني.",
    thanks: "على الرحب والسعة. أنا هنا إذا احتجت إلى شيء آخر.",
    ask_for_contact: "بالتأكيد. اترك بريدك الإلكتروني أو رقم هاتفك هنا وسيتواصل معك أحد أعضاء الفريق. إذا كان أحدهم متصلاً \
                      الآن فسيرد عليك في هذه المحادثة.",
    handoff: "بالتأكيد. بياناتك لدي وقد أبلغت الفريق، وسيتواصل معك أحدهم أو يرد عليك في هذه المحادثة.",
    contact_noted: "شكراً، سجلت ذلك. سنتواصل معك.",
    no_answer: "لم أجد شيئاً عن ذلك في هذا الموقع. يمكنني تمرير سؤالك: اترك بريدك الإلكتروني وسنرد عليك.",
    fallback: "لا أستطيع الإجابة الآن. اترك بريدك الإلكتروني وسنكتب إليك.",
};

const CHINESE: Phrases = Phrases {
    greeting: "您好！您想了解什么？如果您想和真人交谈，请告诉我。",
    thanks: "不客气。如果还有其他问题，随时问我。",
    ask_for_contact: "好的。请在这里留下您的邮箱或电话，我们会与您联系。如果有同事在线，会直接在此对话中回复您。",
    handoff: "好的。我已有您的联系方式，并已通知团队；同事会与您联系，或直接在此对话中回复。",
    contact_noted: "谢谢，已记录。我们会与您联系。",
    no_answer: "我在本网站没有找到相关内容。我可以转达您的问题：请留下您的邮箱，我们会回复您。",
    fallback: "我现在无法回答。请留下您的邮箱，我们会写信给您。",
};

const JAPANESE: Phrases = Phrases {
    greeting: "こんにちは。何をお知りになりたいですか。担当者と話したい場合は、そうお伝えください。",
    thanks: "どういたしまして。ほかにもご質問があれば、お尋ねください。",
    ask_for_contact: "承知しました。メールアドレスか電話番号をここに残していただければ、担当者からご連絡します。担当者がオンラインの場合は、\
                      このチャットでお答えします。",
    handoff: "承知しました。ご連絡先を確認し、担当者に伝えました。担当者からご連絡するか、このチャットでお答えします。",
    contact_noted: "ありがとうございます。承りました。担当者からご連絡します。",
    no_answer: "このサイトには該当する内容が見つかりませんでした。ご質問を担当者に伝えますので、メールアドレスを残してください。",
    fallback: "ただいまお答えできません。メールアドレスを残していただければ、担当者からご連絡します。",
};

impl Phrases {
    /// Returns the sentences in the language of a message; where it does not tell, in that of the locale.
    pub(crate) fn of(message: &str, locale: Option<&str>) -> &'static Self {
        let tag =
            locale.unwrap_or_default().split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase();
        let has =
            |range: std::ops::RangeInclusive<char>| message.chars().any(|letter| range.contains(&letter));
        if has('\u{3040}'..='\u{30ff}') {
            return &JAPANESE;
        }
        if has('\u{3400}'..='\u{9fff}') {
            return if tag == "ja" { &JAPANESE } else { &CHINESE };
        }
        if has('\u{600}'..='\u{6ff}') {
            return &ARABIC;
        }
        let expected = Language::of_tag(&tag).unwrap_or(Language::English);
        match Language::detected(message, expected) {
            Language::German => &GERMAN,
            Language::Spanish => &SPANISH,
            Language::French => &FRENCH,
            Language::Arabic => &ARABIC,
            Language::Other if tag == "zh" => &CHINESE,
            Language::Other if tag == "ja" => &JAPANESE,
            _ => &ENGLISH,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_in_the_language_of_the_message_before_that_of_the_page() {
        for (message, locale, phrases) in [
            ("How much is it?", Some("de"), &ENGLISH),
            ("Was kostet das?", Some("en-GB"), &GERMAN),
            ("¿Cuánto cuesta?", None, &SPANISH),
            ("Combien ça coûte, s'il vous plaît ?", None, &FRENCH),
            ("كم السعر؟", Some("en"), &ARABIC),
            ("多少钱？", Some("en"), &CHINESE),
            ("いくらですか", Some("en"), &JAPANESE),
            ("料金", Some("ja-JP"), &JAPANESE),
            ("?", Some("fr-CA"), &FRENCH),
            ("?", Some("ja"), &JAPANESE),
            ("?", Some("xx"), &ENGLISH),
        ] {
            assert_eq!(Phrases::of(message, locale), phrases, "{message}");
        }
    }

    #[test]
    fn fallback_texts_are_short() {
        for phrases in [ENGLISH, GERMAN, SPANISH, FRENCH, ARABIC, CHINESE, JAPANESE] {
            assert!((10..120).contains(&phrases.fallback.chars().count()), "{}", phrases.fallback);
        }
    }
}
