// The publishing view of the operator console.

import { time } from "./dates.js";
import { at, call, count, element, joinParts, post, replaceRows, serialised, showFacts } from "./page.js";

/** Maximum rows of a list. */
const MAX_ROWS = 100;
/** Maximum entries that the sandbox returns. */
const MAX_LISTED = 1000;
const TONES = { draft: "warm", pending: "warm", queued: "warm", published: "good", succeeded: "good", failed: "bad" };
const KINDS = { article: "Article", overlay: "Overlay" };
const tag = (status) => element("span", `tag ${TONES[status] ?? ""}`, status);

/** Returns a title with a small line below it. */
function titleWith(title, below) {
  const made = element("span", "what", title);
  made.append(element("small", "", below));
  return made;
}

/** Fills a list with its rows, and a line with the number of further entries. */
function list(id, all, row) {
  const rows = all.slice(0, MAX_ROWS).map(row);
  if (all.length > MAX_ROWS)
    rows.push(element("li", "hint", `and ${all.length < MAX_LISTED ? all.length - MAX_ROWS : "many"} more`));
  replaceRows(at(id), rows);
}

function step(review, verb, path) {
  const button = element("button", "quiet", verb);
  button.type = "button";
  button.dataset.step = path;
  button.setAttribute("aria-label", `${verb}: ${review.title}`);
  let pending = false;
  button.addEventListener("click", async () => {
    if (pending) return;
    pending = true;
    at("review-problem").textContent = "";
    try {
      await post(`reviews/${encodeURIComponent(review.id)}/${path}`);
    } catch (error) {
      at("review-problem").textContent = error.message;
      pending = false;
    }
  });
  return button;
}

function showReview(review) {
  const item = element("li");
  item.dataset.id = review.id;
  item.tabIndex = -1;
  item.append(titleWith(review.title, joinParts(KINDS[review.kind] ?? review.kind, review.path)), tag(review.status));
  if (["draft", "failed", "withdrawn"].includes(review.status)) item.append(step(review, "Publish", "publish"));
  if (review.kind === "article" && review.status === "published") {
    item.append(step(review, "Roll back", "roll-back"), step(review, "Delete", "withdraw"));
  }
  return item;
}

function showReviews(reviews) {
  const drafts = reviews.filter(({ status }) => status === "draft");
  // Drafts come first.
  list("reviews", [...drafts, ...reviews.filter(({ status }) => status !== "draft")], showReview);
  at("nothing").hidden = reviews.length > 0;
  at("waiting").hidden = drafts.length === 0;
  at("waiting").textContent = String(drafts.length);
  at("waiting").setAttribute("aria-label", count(drafts.length, "draft"));
  at("publish-overlays").disabled = !drafts.some(({ kind }) => kind === "overlay");
}

function showJobs(jobs) {
  list("jobs", jobs.toReversed(), (job) => {
    const item = element("li");
    const attempt = job.attempts > 0 && `attempt ${job.attempts} of ${job.maxAttempts}`;
    item.append(
      titleWith(job.title || job.id, joinParts(job.type, attempt, job.error, job.result?.url)),
      tag(job.status),
    );
    return item;
  });
  at("no-jobs").hidden = jobs.length > 0;
}

function showEvents(events) {
  list("all-events", events, (event) => {
    const item = element("li");
    const details = joinParts(event.title, event.path, event.eventData?.label, event.visitorId);
    item.append(titleWith(event.eventType, details), time(event.receivedAt, "moment-with-seconds"));
    return item;
  });
  at("no-events").hidden = events.length > 0;
}

function showSite({ site, contentItems }) {
  showFacts(at("site"), {
    Name: site?.siteName ?? (site ? undefined : "Not activated"),
    Domain: site?.domain,
    Platform: site?.platform,
    Languages: site?.supportedLocales?.join(", "),
    Content: count(contentItems, "item"),
  });
}

const reload = serialised(async () => {
  const all = await call("site");
  showSite(all);
  showReviews(all.reviews);
  showJobs(all.jobs);
  showEvents(all.events);
});

function showView() {
  const publishing = location.hash === "#publishing";
  at("view-publishing").hidden = !publishing;
  at("view-conversations").hidden = publishing;
  for (const link of document.querySelectorAll(".views a")) {
    if ((link.hash === "#publishing") === publishing) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

at("article").addEventListener("submit", async (event) => {
  event.preventDefault();
  const field = (name) => at(`article-${name}`).value;
  at("article-problem").textContent = "";
  try {
    await post("articles", { title: field("title"), path: field("path"), content: field("content") });
    event.target.reset();
  } catch (error) {
    at("article-problem").textContent = error.message;
  }
});
at("publish-overlays").addEventListener("click", () =>
  post("overlays/publish").catch((error) => (at("review-problem").textContent = error.message)),
);
addEventListener("hashchange", showView);
// Sent by console.js for each event of the stream of changes.
addEventListener("console-change", reload);
showView();
reload();
