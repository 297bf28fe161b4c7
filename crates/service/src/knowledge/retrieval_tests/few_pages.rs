//! Sites with few pages, and pages about one subject: a word that stands on most of them finds them.

use super::*;
use crate::knowledge::{MAYBE, SURE};

/// Returns a site with these pages.
fn site(locale: &str, pages: impl IntoIterator<Item = (String, String)>) -> Recorded {
    let pages = pages.into_iter().enumerate().map(|(index, (title, content))| RecordedPage {
        id: format!("p{index}"),
        path: format!("/p{index}"),
        title,
        content,
    });
    Recorded {
        site: "Site".to_owned(),
        locale: locale.to_owned(),
        pages: pages.collect(),
        questions: Vec::new(),
    }
}

/// Opens a database with this site.
async fn with_site(database: &TestDatabase, set: &Recorded) -> Db {
    let db = Db::open_uncached(&database.address).await.expect("opened");
    add_site(&db, "site", set).await;
    db
}

async fn ask(db: &Db, question: &str) -> Vec<Passage> {
    search(db, "site", question, None).await.expect("searched")
}

fn page(title: &str, content: &str) -> (String, String) {
    (title.to_owned(), content.to_owned())
}

const COUNTRIES: [&str; 20] = [
    "Austria", "Belgium", "Croatia", "Denmark", "Estonia", "Finland", "France", "Germany", "Greece",
    "Hungary", "Ireland", "Italy", "Latvia", "Malta", "Norway", "Poland", "Portugal", "Romania", "Spain",
    "Sweden",
];

on_both_databases! {
    async fn the_shorter_of_two_alike_answers_is_found_by_its_only_word(database: &TestDatabase) {
        let db = with_site(database, &site("de", [
            page("Öffnungszeiten an Feiertagen?", "An Feiertagen ist geschlossen."),
            page("Öffnungszeiten?", "Montag bis Freitag von 9 bis 18 Uhr."),
        ])).await;
        for question in ["Öffnungszeiten", "Wann sind eure Öffnungszeiten?", "öffnungszeiten?"] {
            let found = ask(&db, question).await;
            assert_eq!(found.first().map(|best| best.id.as_str()), Some("content:p1"), "{question}: {found:?}");
            assert!(found[0].certainty >= SURE, "{question}: {found:?}");
        }
        assert_eq!(ask(&db, "Öffnungszeiten an Feiertagen").await[0].id, "content:p0");
    }

    async fn a_word_of_all_pages_finds_them(database: &TestDatabase) {
        let db = Db::open_uncached(&database.address).await.expect("opened");
        for (id, count) in [("three", 3), ("six", 6), ("ten", 10), ("twenty", 20)] {
            let pages = COUNTRIES.iter().take(count).enumerate().map(|(index, country)| {
                let title = format!("Shipping to {country}");
                (title, format!("Shipping to {country} costs {} euros.", index + 5))
            });
            add_site(&db, id, &site("en", pages)).await;
            let found = search(&db, id, "How much is shipping?", None).await.expect("searched");
            assert!(found.first().is_some_and(|best| best.certainty >= MAYBE), "{id}: {found:?}");
            let one = search(&db, id, "How much is shipping to Croatia?", None).await.expect("searched");
            assert_eq!(one[0].title, "Shipping to Croatia", "{id}");
            assert!(one[0].certainty >= SURE, "{id}: {one:?}");
        }
    }

    async fn a_word_of_most_pages_finds_them(database: &TestDatabase) {
        let db = Db::open_uncached(&database.address).await.expect("opened");
        for (id, with, count) in [("four", 3, 4), ("ten", 8, 10), ("twenty", 15, 20)] {
            let pages = (0..count).map(|index| {
                if index < with {
                    page(&format!("Course {index}"), &format!("Our workshops in room {index} are for everybody."))
                } else {
                    page(&format!("Glaze {index}"), &format!("Glaze {index} is blue and fired twice."))
                }
            });
            add_site(&db, id, &site("en", pages)).await;
            for question in ["workshops", "Do you offer workshops?"] {
                let found = search(&db, id, question, None).await.expect("searched");
                assert!(found.first().is_some_and(|best| best.title.starts_with("Course")), "{id}: {found:?}");
            }
        }
    }

    async fn the_name_of_the_shop_finds_the_page_about_it(database: &TestDatabase) {
        let db = with_site(database, &site("en", [
            page("Mugs – Blue Pottery", "Our mugs hold 320 ml and cost 24 euros."),
            page("About us – Blue Pottery", "Blue Pottery is a studio for ceramics. Blue Pottery was founded in 1998."),
            page("Bowls – Blue Pottery", "Our bowls stack, and cost 28 euros."),
            page("Delivery – Blue Pottery", "Delivery takes three days."),
        ])).await;
        for question in ["What is Blue Pottery?", "pottery", "Blue Pottery"] {
            let found = ask(&db, question).await;
            assert_eq!(found.first().map(|best| best.id.as_str()), Some("content:p1"), "{question}: {found:?}");
        }
        assert_eq!(ask(&db, "ceramics").await[0].id, "content:p1");
        assert_eq!(ask(&db, "Do you repair bicycles?").await, []);
    }

    async fn a_question_of_frequent_words_is_not_answered_by_one_of_them(database: &TestDatabase) {
        let db = with_site(database, &site("en", [
            page("Do you buy used bicycles?", "We take an old bicycle in part exchange for a new one."),
            page("Payment", "You can pay by card."),
            page("Who are we?", "Two potters."),
        ])).await;
        for question in ["Where are you?", "How do you do?"] {
            let found = ask(&db, question).await;
            assert!(found.iter().all(|passage| passage.certainty < SURE), "{question}: {found:?}");
        }
        assert_eq!(ask(&db, "Who are we?").await[0].id, "content:p2");
    }

    async fn a_row_of_a_table_answers_with_its_column_names(database: &TestDatabase) {
        let table = "<h1>Allergens</h1><p>Made in our kitchen.</p><table><tr><th>Cake</th><th>Nuts</th><th>Gluten</th></tr>\
            <tr><td>Carrot cake</td><td>yes</td><td>no</td></tr><tr><td>Cheese cake</td><td>no</td><td>yes</td></tr></table>";
        let db = with_site(database, &site("en", [page("Allergens", table)])).await;
        let found = ask(&db, "Does the carrot cake contain nuts?").await;
        assert!(found[0].shown.contains("Cake: Carrot cake · Nuts: yes · Gluten: no"), "{found:?}");
    }

    async fn korean_vietnamese_and_hindi_words_are_told_apart(database: &TestDatabase) {
        let db = Db::open_uncached(&database.address).await.expect("opened");
        for (id, locale, pages, question) in [
            ("ko", "ko", [page("배송", "배송비는 3000원입니다."), page("환불", "환불은 7일 안에 됩니다.")], "배송비가 얼마인가요?"),
            ("vi", "vi", [page("Má", "Má nấu cơm ngon."), page("Mạ", "Mạ lúa xanh tốt.")], "má nấu gì"),
            ("hi", "hi", [page("डिलीवरी", "डिलीवरी में तीन दिन लगते हैं।"), page("वापसी", "वापसी तीस दिनों तक हो सकती है।")], "डिलीवरी कब होगी?"),
        ] {
            add_site(&db, id, &site(locale, pages)).await;
            let found = search(&db, id, question, Some(locale)).await.expect("searched");
            assert_eq!(found.first().map(|best| best.id.as_str()), Some("content:p0"), "{question}: {found:?}");
        }
    }
}
