//! The texts of e-mails with replies to visitors, and of the page that ends them: one entry for each
//! language. No text depends on the visitor's gender where the language allows it.

use super::Texts;

/// The texts of a language.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ReplyTexts {
    /// The language tag.
    pub(crate) language: &'static str,
    pub(crate) subject: &'static str,
    pub(crate) open: &'static str,
    /// Introduces the visitor's own words.
    pub(crate) wrote: &'static str,
    /// A warning below the link.
    pub(crate) private: &'static str,
    /// The reason why the visitor gets the e-mail.
    pub(crate) why: &'static str,
    pub(crate) stop: &'static str,
    pub(crate) stop_ask: &'static str,
    pub(crate) stop_done: &'static str,
}

impl ReplyTexts {
    /// Returns the texts of the first of these language tags that has some, else those in English.
    pub(crate) fn of<'a>(tags: impl IntoIterator<Item = Option<&'a str>>) -> &'static Self {
        let language = Texts::of(tags).language;
        REPLIES.iter().find(|texts| texts.language == language).unwrap_or(&REPLIES[0])
    }

    /// Returns the value of the attribute `dir` in HTML.
    pub(crate) fn direction(&self) -> &'static str {
        Texts::of([Some(self.language)]).direction()
    }
}

#[rustfmt::skip]
const REPLIES: [ReplyTexts; 20] = [
    ReplyTexts {
        language: "en",
        subject: "A reply to your message",
        open: "Open the conversation and answer",
        wrote: "You wrote:",
        private: "The link opens your conversation for 30 days. Do not pass it on.",
        why: "You receive this e-mail because this address was given in the chat of {site}. If that was not you, ignore it.",
        stop: "No more e-mails from this chat",
        stop_ask: "Do you want no more e-mails from the chat of {site}?",
        stop_done: "You will receive no more e-mails from this chat.",
    },
    ReplyTexts {
        language: "ar",
        subject: "رد على رسالتك",
        open: "فتح المحادثة والرد",
        wrote: "كتبت:",
        private: "يفتح الرابط محادثتك لمدة 30 يومًا. لا تُعطه لأحد.",
        why: "وصلتك هذه الرسالة لأن هذا العنوان كُتب في دردشة {site}. إذا لم تكن أنت من كتبه فتجاهلها.",
        stop: "إيقاف رسائل هذه الدردشة",
        stop_ask: "هل تريد إيقاف الرسائل التي تصلك من دردشة {site}؟",
        stop_done: "لن تصلك رسائل أخرى من هذه الدردشة.",
    },
    ReplyTexts {
        language: "de",
        subject: "Eine Antwort auf Ihre Nachricht",
        open: "Unterhaltung öffnen und antworten",
        wrote: "Sie haben geschrieben:",
        private: "Der Link öffnet 30 Tage lang Ihre Unterhaltung. Geben Sie ihn nicht weiter.",
        why: "Sie erhalten diese E-Mail, weil diese Adresse im Chat von {site} angegeben wurde. Wenn Sie das nicht waren, ignorieren Sie sie.",
        stop: "Keine E-Mails mehr aus diesem Chat",
        stop_ask: "Möchten Sie keine E-Mails mehr aus dem Chat von {site} erhalten?",
        stop_done: "Sie erhalten keine E-Mails mehr aus diesem Chat.",
    },
    ReplyTexts {
        language: "es",
        subject: "Una respuesta a su mensaje",
        open: "Abrir la conversación y responder",
        wrote: "Usted escribió:",
        private: "El enlace abre su conversación durante 30 días. No lo comparta.",
        why: "Recibe este correo porque esta dirección se indicó en el chat de {site}. Si no fue usted, ignórelo.",
        stop: "No recibir más correos de este chat",
        stop_ask: "¿No quiere recibir más correos del chat de {site}?",
        stop_done: "No recibirá más correos de este chat.",
    },
    ReplyTexts {
        language: "fr",
        subject: "Une réponse à votre message",
        open: "Ouvrir la conversation et répondre",
        wrote: "Vous avez écrit :",
        private: "Le lien ouvre votre conversation pendant 30 jours. Ne le transmettez à personne.",
        why: "Vous recevez cet e-mail parce que cette adresse a été indiquée dans le chat de {site}. Si ce n’était pas vous, ignorez-le.",
        stop: "Ne plus recevoir d’e-mails de ce chat",
        stop_ask: "Ne voulez-vous plus recevoir d’e-mails du chat de {site} ?",
        stop_done: "Vous ne recevrez plus d’e-mails de ce chat.",
    },
    ReplyTexts {
        language: "he",
        subject: "תשובה להודעה שלך",
        open: "פתיחת השיחה ומענה",
        wrote: "כתבת:",
        private: "הקישור פותח את השיחה שלך במשך 30 יום. אין להעביר אותו לאחרים.",
        why: "הודעת הדוא״ל הזו נשלחה כי הכתובת הזו נמסרה בצ׳אט של {site}. אם לא מסרת אותה, אפשר להתעלם.",
        stop: "בלי הודעות דוא״ל נוספות מהצ׳אט הזה",
        stop_ask: "להפסיק לקבל הודעות דוא״ל מהצ׳אט של {site}?",
        stop_done: "לא יישלחו אליך עוד הודעות דוא״ל מהצ׳אט הזה.",
    },
    ReplyTexts {
        language: "hi",
        subject: "आपके संदेश का जवाब",
        open: "बातचीत खोलें और जवाब दें",
        wrote: "आपने लिखा:",
        private: "यह लिंक 30 दिनों तक आपकी बातचीत खोलता है। इसे किसी और को न दें।",
        why: "आपको यह ई-मेल इसलिए मिला है क्योंकि {site} की चैट में यह पता दिया गया था। अगर यह आपने नहीं किया, तो इसे अनदेखा करें।",
        stop: "इस चैट से और ई-मेल न भेजें",
        stop_ask: "क्या आप {site} की चैट से और ई-मेल नहीं चाहते?",
        stop_done: "आपको इस चैट से और ई-मेल नहीं मिलेंगे।",
    },
    ReplyTexts {
        language: "id",
        subject: "Balasan untuk pesan Anda",
        open: "Buka percakapan dan balas",
        wrote: "Anda menulis:",
        private: "Tautan ini membuka percakapan Anda selama 30 hari. Jangan berikan kepada orang lain.",
        why: "Anda menerima email ini karena alamat ini diberikan di obrolan {site}. Jika itu bukan Anda, abaikan email ini.",
        stop: "Berhenti menerima email dari obrolan ini",
        stop_ask: "Apakah Anda tidak ingin lagi menerima email dari obrolan {site}?",
        stop_done: "Anda tidak akan menerima email lagi dari obrolan ini.",
    },
    ReplyTexts {
        language: "it",
        subject: "Una risposta al Suo messaggio",
        open: "Apra la conversazione e risponda",
        wrote: "Lei ha scritto:",
        private: "Il link apre la Sua conversazione per 30 giorni. Non lo condivida.",
        why: "Riceve questa e-mail perché questo indirizzo è stato indicato nella chat di {site}. Se non è stato Lei, la ignori.",
        stop: "Nessun’altra e-mail da questa chat",
        stop_ask: "Non desidera più ricevere e-mail dalla chat di {site}?",
        stop_done: "Non riceverà più e-mail da questa chat.",
    },
    ReplyTexts {
        language: "ja",
        subject: "メッセージへの返信が届いています",
        open: "チャットを開いて返信する",
        wrote: "あなたのメッセージ:",
        private: "このリンクから30日間チャットを開けます。ほかの人には渡さないでください。",
        why: "{site} のチャットでこのメールアドレスが入力されたため、お送りしています。お心当たりがない場合は、このメールを無視してください。",
        stop: "このチャットからのメールを停止する",
        stop_ask: "{site} のチャットからのメールを停止しますか？",
        stop_done: "今後このチャットからメールは届きません。",
    },
    ReplyTexts {
        language: "ko",
        subject: "메시지에 대한 답변",
        open: "대화를 열고 답하기",
        wrote: "보내신 메시지:",
        private: "이 링크로 30일 동안 대화를 열 수 있습니다. 다른 사람에게 전달하지 마세요.",
        why: "{site} 채팅에 이 주소가 입력되어 이메일을 보내 드립니다. 직접 입력하지 않으셨다면 무시하세요.",
        stop: "이 채팅의 이메일 그만 받기",
        stop_ask: "{site} 채팅의 이메일을 그만 받으시겠습니까?",
        stop_done: "이 채팅에서 더 이상 이메일을 보내지 않습니다.",
    },
    ReplyTexts {
        language: "nl",
        subject: "Een antwoord op uw bericht",
        open: "Gesprek openen en antwoorden",
        wrote: "U schreef:",
        private: "De link opent uw gesprek 30 dagen lang. Geef hem niet door.",
        why: "U ontvangt deze e-mail omdat dit adres in de chat van {site} is opgegeven. Was u dat niet, negeer de e-mail dan.",
        stop: "Geen e-mails meer van deze chat",
        stop_ask: "Wilt u geen e-mails meer ontvangen van de chat van {site}?",
        stop_done: "U ontvangt geen e-mails meer van deze chat.",
    },
    ReplyTexts {
        language: "pl",
        subject: "Odpowiedź na Twoją wiadomość",
        open: "Otwórz rozmowę i odpowiedz",
        wrote: "Twoja wiadomość:",
        private: "Link otwiera Twoją rozmowę przez 30 dni. Nie przekazuj go nikomu.",
        why: "Ta wiadomość przyszła, ponieważ ten adres podano na czacie {site}. Jeśli to nie Ty, zignoruj ją.",
        stop: "Nie chcę więcej wiadomości z tego czatu",
        stop_ask: "Czy nie chcesz więcej otrzymywać wiadomości z czatu {site}?",
        stop_done: "Nie będzie więcej wiadomości e-mail z tego czatu.",
    },
    ReplyTexts {
        language: "pt",
        subject: "Uma resposta à sua mensagem",
        open: "Abrir a conversa e responder",
        wrote: "Você escreveu:",
        private: "O link abre a sua conversa por 30 dias. Não o repasse a ninguém.",
        why: "Você recebe este e-mail porque este endereço foi informado no chat de {site}. Se não foi você, ignore-o.",
        stop: "Não receber mais e-mails deste chat",
        stop_ask: "Não quer mais receber e-mails do chat de {site}?",
        stop_done: "Você não receberá mais e-mails deste chat.",
    },
    ReplyTexts {
        language: "ru",
        subject: "Ответ на ваше сообщение",
        open: "Открыть переписку и ответить",
        wrote: "Вы написали:",
        private: "Ссылка открывает вашу переписку в течение 30 дней. Никому её не передавайте.",
        why: "Вы получили это письмо, потому что этот адрес указали в чате {site}. Если это были не вы, не обращайте на него внимания.",
        stop: "Больше не получать писем из этого чата",
        stop_ask: "Вы больше не хотите получать письма из чата {site}?",
        stop_done: "Писем из этого чата больше не будет.",
    },
    ReplyTexts {
        language: "th",
        subject: "มีคำตอบสำหรับข้อความของคุณ",
        open: "เปิดการสนทนาและตอบกลับ",
        wrote: "คุณเขียนว่า:",
        private: "ลิงก์นี้เปิดการสนทนาของคุณได้ 30 วัน โปรดอย่าส่งต่อให้ผู้อื่น",
        why: "คุณได้รับอีเมลนี้เพราะมีการให้ที่อยู่นี้ไว้ในแชตของ {site} หากไม่ใช่คุณ โปรดเพิกเฉยต่ออีเมลนี้",
        stop: "ไม่รับอีเมลจากแชตนี้อีก",
        stop_ask: "คุณไม่ต้องการรับอีเมลจากแชตของ {site} อีกใช่ไหม",
        stop_done: "คุณจะไม่ได้รับอีเมลจากแชตนี้อีก",
    },
    ReplyTexts {
        language: "tr",
        subject: "Mesajınıza bir yanıt",
        open: "Görüşmeyi aç ve yanıtla",
        wrote: "Yazdığınız mesaj:",
        private: "Bağlantı, görüşmenizi 30 gün boyunca açar. Başkasıyla paylaşmayın.",
        why: "Bu e-postayı, bu adres {site} sohbetinde verildiği için alıyorsunuz. Bunu siz yapmadıysanız e-postayı dikkate almayın.",
        stop: "Bu sohbetten artık e-posta alma",
        stop_ask: "{site} sohbetinden artık e-posta almak istemiyor musunuz?",
        stop_done: "Bu sohbetten artık e-posta almayacaksınız.",
    },
    ReplyTexts {
        language: "vi",
        subject: "Trả lời cho tin nhắn của bạn",
        open: "Mở cuộc trò chuyện và trả lời",
        wrote: "Bạn đã viết:",
        private: "Liên kết này mở cuộc trò chuyện của bạn trong 30 ngày. Đừng chuyển cho người khác.",
        why: "Bạn nhận được email này vì địa chỉ này đã được cung cấp trong khung trò chuyện của {site}. Nếu không phải bạn, hãy bỏ qua.",
        stop: "Không nhận thêm email từ khung trò chuyện này",
        stop_ask: "Bạn không muốn nhận thêm email từ khung trò chuyện của {site}?",
        stop_done: "Bạn sẽ không nhận thêm email từ khung trò chuyện này.",
    },
    ReplyTexts {
        language: "zh",
        subject: "您的消息有新回复",
        open: "打开对话并回复",
        wrote: "您写道：",
        private: "此链接在 30 天内可以打开您的对话，请勿转发给他人。",
        why: "您收到此邮件，是因为有人在 {site} 的聊天中填写了这个地址。如果不是您本人，请忽略。",
        stop: "不再接收此聊天的邮件",
        stop_ask: "您不想再接收来自 {site} 聊天的邮件吗？",
        stop_done: "您不会再收到来自此聊天的邮件。",
    },
    ReplyTexts {
        language: "zh-TW",
        subject: "您的訊息有新回覆",
        open: "開啟對話並回覆",
        wrote: "您寫道：",
        private: "此連結在 30 天內可以開啟您的對話，請勿轉寄給他人。",
        why: "您收到這封電子郵件，是因為有人在 {site} 的聊天中填寫了這個地址。如果不是您本人，請忽略。",
        stop: "不再接收此聊天的電子郵件",
        stop_ask: "您不想再接收來自 {site} 聊天的電子郵件嗎？",
        stop_done: "您不會再收到來自此聊天的電子郵件。",
    },
];

#[cfg(test)]
mod tests {
    use super::super::table::TEXTS;
    use super::*;

    #[test]
    fn every_language_of_the_service_has_texts_with_the_same_placeholders() {
        for texts in &TEXTS {
            let replies = ReplyTexts::of([Some(texts.language)]);
            assert_eq!(replies.language, texts.language);
            assert!(
                replies.why.contains("{site}") && replies.stop_ask.contains("{site}"),
                "{}",
                texts.language
            );
            let plain = [
                replies.subject,
                replies.open,
                replies.wrote,
                replies.private,
                replies.stop,
                replies.stop_done,
            ];
            assert!(plain.iter().all(|text| text.len() > 3 && !text.contains('{')), "{}", texts.language);
        }
        assert_eq!(ReplyTexts::of([Some("xx"), Some("de-AT")]).open, "Unterhaltung öffnen und antworten");
    }
}
