//! The texts of what could be better about an article or a page head.

use chat_protocol::admin::publishing::{Finding, MAX_DESCRIPTION, MAX_TITLE, MIN_DESCRIPTION};

use crate::text::{Text, publishing as texts};

/// Returns the sentence about a finding.
pub(super) fn sentence(finding: Finding) -> String {
    let text = match finding {
        Finding::UnusualPath => texts::CHECK_PATH,
        Finding::TitleMissing => texts::CHECK_TITLE_MISSING,
        Finding::Noindex => texts::CHECK_NOINDEX,
        Finding::CanonicalRelative => texts::CHECK_CANONICAL_RELATIVE,
        Finding::RunsCode => texts::CHECK_SCRIPT,
        Finding::DescriptionMissing => texts::CHECK_DESCRIPTION_MISSING,
        Finding::DescriptionRepeatsTitle => texts::CHECK_DESCRIPTION_SAME,
        Finding::OpenGraphMissing => texts::CHECK_OG_MISSING,
        Finding::StructuredDataMissing => texts::CHECK_STRUCTURED_MISSING,
        Finding::TitleLong(count) => return counted(texts::CHECK_TITLE_LONG, count, MAX_TITLE),
        Finding::TitleShort(count) => return counted(texts::CHECK_TITLE_SHORT, count, MAX_TITLE),
        Finding::DescriptionLong(count) => {
            return counted(texts::CHECK_DESCRIPTION_LONG, count, MAX_DESCRIPTION);
        }
        Finding::DescriptionShort(count) => {
            return counted(texts::CHECK_DESCRIPTION_SHORT, count, MAX_DESCRIPTION);
        }
        Finding::ImagesWithoutText(count) => return texts::CHECK_IMAGE_ALT.count(number(count)),
        Finding::ShortArticle(count) => return texts::CHECK_SHORT_ARTICLE.count(number(count)),
    };
    text.get().to_owned()
}

fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn counted(text: Text, count: usize, max: usize) -> String {
    text.with(&[
        ("count", &count.to_string()),
        ("max", &max.to_string()),
        ("min", &MIN_DESCRIPTION.to_string()),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_has_the_numbers_of_its_finding() {
        let text = sentence(Finding::DescriptionShort(4));
        assert!(text.contains(" 4 ") && text.contains("50") && text.contains("160"), "{text}");
        assert!(sentence(Finding::TitleLong(61)).contains("61"));
        assert!(sentence(Finding::ImagesWithoutText(2)).contains('2'));
    }
}
