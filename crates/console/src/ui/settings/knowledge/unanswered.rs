//! The questions of visitors that the AI could not answer, from which answers are written.

use chat_protocol::admin::UnansweredQuestion;
use chat_protocol::admin::settings::{Answer, Site};
use leptos::prelude::*;

use crate::api::settings as requests;
use crate::location::Page;
use crate::text::settings as t;
use crate::ui::forms::Dialog;
use crate::ui::settings::answers::AnswerForm;
use crate::ui::settings::page::{Empty, ago};
use crate::ui::settings::paged::{Paged, PagedList};
use crate::ui::settings::rows::{Chosen, RowButton};

/// The list of questions without an answer.
#[component]
pub fn Unanswered(site: Site, may_change: bool) -> impl IntoView {
    let site_id = StoredValue::new(site.id.clone());
    let pages = Paged::new(move |before: Option<i64>| {
        let site = site_id.get_value();
        async move {
            let page = requests::unanswered(&site, before).await?;
            Ok((page.questions, page.next_before))
        }
    });
    let answered = Chosen::<UnansweredQuestion>::new();
    let site = StoredValue::new(site);
    view! {
        <p class="lead">{t::UNANSWERED_LEAD.get()}</p>
        <PagedList pages empty=move || view! { <Empty text=t::UNANSWERED_EMPTY.get()/> } let:questions>
            {
                let rows = questions.into_iter().map(|question| row(question, may_change, answered));
                view! { <ul class="rows">{rows.collect_view()}</ul> }
            }
        </PagedList>
        <Dialog open=answered.open title=Signal::stored(t::ANSWER_ADD.get().to_owned()) is_wide=true>
            {
                let chosen = answered.get().unwrap_or_default();
                let question = chosen.text.clone();
                let message = StoredValue::new((chosen.conversation_id, chosen.sequence));
                view! {
                    <AnswerForm
                        site=site.get_value()
                        answer=Answer { question, ..Answer::default() }
                        open=answered.open
                        on_saved=move |_| {
                            let (conversation, sequence) = message.get_value();
                            pages.update(|questions| questions.retain(|question| {
                                question.conversation_id != conversation || question.sequence != sequence
                            }));
                        }
                    />
                }
            }
        </Dialog>
    }
}

fn row(
    question: UnansweredQuestion,
    may_change: bool,
    answered: Chosen<UnansweredQuestion>,
) -> impl IntoView {
    let for_answer = question.clone();
    let UnansweredQuestion { conversation_id, text, created_at, .. } = question;
    let href = Page::conversation(&conversation_id).href();
    let label = format!("{}: {}", t::UNANSWERED_WRITE.get(), text.lines().next().unwrap_or_default());
    view! {
        <li>
            <div class="row-main">
                <p class="row-title" dir="auto">{text}</p>
                <p class="row-facts">
                    <span>{ago(&created_at)}</span>
                    <a href=href>{t::UNANSWERED_OPEN.get()}</a>
                </p>
            </div>
            {may_change.then(|| view! {
                <div class="row-actions">
                    <RowButton
                        text=t::UNANSWERED_WRITE
                        label
                        on_click=move || answered.choose(Some(for_answer.clone()))
                    />
                </div>
            })}
        </li>
    }
}
