//! Tells the contact details of the site from those of its visitors, who quote them.

use super::contacts::{Contact, contacts_in};
use super::phone::{Countries, national};
use crate::db::{DbError, Tx, args, containing};

/// Maximum pages and answers that are compared with a number.
const MAX_COMPARED: i64 = 40;
/// The last digits of a number by which pages are found that may contain it.
const COMPARED_DIGITS: usize = 2;

/// Returns the contact details that do not stand in the site's pages or answers.
pub(crate) async fn without_own(
    tx: &mut Tx,
    site_id: &str,
    contacts: Vec<Contact>,
    countries: &Countries,
) -> Result<Vec<Contact>, DbError> {
    let mut others = Vec::with_capacity(contacts.len());
    for contact in contacts {
        let is_own = match &contact {
            Contact::Email(address) => !texts_with(tx, site_id, &address.to_lowercase()).await?.is_empty(),
            Contact::Phone { number, .. } => is_own_number(tx, site_id, number, countries).await?,
        };
        if !is_own {
            others.push(contact);
        }
    }
    Ok(others)
}

async fn is_own_number(
    tx: &mut Tx,
    site_id: &str,
    number: &str,
    countries: &Countries,
) -> Result<bool, DbError> {
    let digits: Vec<char> = number.chars().filter(char::is_ascii_digit).collect();
    let end: String = digits.iter().skip(digits.len().saturating_sub(COMPARED_DIGITS)).collect();
    let wanted = national(number, countries);
    let texts = texts_with(tx, site_id, &end).await?;
    let mut contacts = texts.iter().flat_map(|text| contacts_in(text, countries));
    Ok(contacts.any(|contact| match contact {
        Contact::Phone { number, .. } => national(&number, countries) == wanted,
        Contact::Email(_) => false,
    }))
}

/// Returns the pages and answers of a site that contain a text in lower case.
async fn texts_with(tx: &mut Tx, site_id: &str, text: &str) -> Result<Vec<String>, DbError> {
    let sql = "SELECT * FROM (SELECT text FROM content WHERE site_id = $1 AND lower(text) LIKE $2 ESCAPE '!'
                   ORDER BY no DESC LIMIT $3) AS c
               UNION ALL
               SELECT * FROM (SELECT answer FROM answers WHERE site_id = $1 AND lower(answer) LIKE $2 ESCAPE '!'
                   ORDER BY no DESC LIMIT $3) AS a";
    let rows = tx.all(sql, args![site_id, containing(text), MAX_COMPARED]).await?;
    rows.iter().map(|row| row.text(0)).collect()
}
