// The part of the console from which things are published. Everything that came from the site goes onto the page as text.

const at = (id) => document.getElementById(id);

async function call(path, body) {
  const options = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body ?? {}) };
  const response = await fetch(`/operator/api/${path}`, body === undefined ? {} : options);
  const answer = await response.json();
  if (!response.ok) throw new Error(answer?.error?.message ?? `The sandbox answered ${response.status}.`);
  return answer;
}

function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

const TONES = { draft: "warm", pending: "warm", queued: "warm", published: "good", succeeded: "good", failed: "bad" };
const tag = (status) => element("span", `tag ${TONES[status] ?? ""}`, status);

/** A title with something small below it. */
function what(title, below) {
  const made = element("span", "what", title);
  made.append(element("small", "", below));
  return made;
}

function step(review, verb, path) {
  const button = element("button", "quiet", verb);
  button.type = "button";
  button.setAttribute("aria-label", `${verb}: ${review.title}`);
  button.addEventListener("click", async () => {
    button.disabled = true;
    at("review-problem").textContent = "";
    try {
      await call(`reviews/${encodeURIComponent(review.id)}/${path}`, {});
    } catch (error) {
      at("review-problem").textContent = error.message;
      button.disabled = false;
    }
  });
  return button;
}

function showReviews(reviews) {
  const items = reviews.map((review) => {
    const item = element("li");
    item.dataset.id = review.id;
    item.append(what(review.title, `${review.kind} of ${review.path}`), tag(review.status));
    if (["draft", "failed", "withdrawn"].includes(review.status)) item.append(step(review, "Publish", "publish"));
    if (review.kind === "article" && review.status === "published") {
      item.append(step(review, "Roll back", "roll-back"), step(review, "Delete", "withdraw"));
    }
    return item;
  });
  at("reviews").replaceChildren(...items);
  const drafts = reviews.filter(({ status }) => status === "draft");
  at("nothing").hidden = reviews.length > 0;
  at("waiting").hidden = drafts.length === 0;
  at("waiting").textContent = String(drafts.length);
  at("waiting").setAttribute("aria-label", `${drafts.length} drafts`);
  at("publish-overlays").disabled = !drafts.some(({ kind }) => kind === "overlay");
}

function showJobs(jobs) {
  const items = jobs.slice(-100).reverse().map((job) => {
    const item = element("li");
    const told = [job.type, `attempt ${job.attempts} of ${job.maxAttempts}`, job.error, job.result?.url].filter(Boolean);
    item.append(what(job.title || job.id, told.join(", ")), tag(job.status));
    return item;
  });
  at("jobs").replaceChildren(...items);
  at("no-jobs").hidden = jobs.length > 0;
}

function showEvents(events) {
  const items = events.slice(0, 100).map((event) => {
    const item = element("li");
    const told = [event.title, event.path, event.eventData?.label, event.visitorId].filter(Boolean).join(", ");
    const time = element("time", "", new Date(event.receivedAt).toLocaleTimeString());
    time.dateTime = event.receivedAt;
    item.append(what(event.eventType, told), time);
    return item;
  });
  at("all-events").replaceChildren(...items);
  at("no-events").hidden = events.length > 0;
}

function showSite({ site, contentItems }) {
  const told = {
    Name: site?.siteName ?? "Not activated",
    Domain: site?.domain,
    Platform: site?.platform,
    Languages: site?.supportedLocales?.join(", "),
    Content: `${contentItems} items`,
  };
  const pairs = Object.entries(told).filter(([, value]) => value);
  at("site").replaceChildren(...pairs.flatMap(([name, value]) => [element("dt", "", name), element("dd", "", value)]));
}

let looking = false;
let lookAgain = false;

async function look() {
  if (looking) {
    lookAgain = true;
    return;
  }
  looking = true;
  try {
    do {
      lookAgain = false;
      const all = await call("site");
      showSite(all);
      showReviews(all.reviews);
      showJobs(all.jobs);
      showEvents(all.events);
    } while (lookAgain);
  } catch {
    // The stream of changes says that the sandbox is gone, and calls again when it is back.
  } finally {
    looking = false;
  }
}

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
    await call("articles", { title: field("title"), path: field("path"), content: field("content") });
    event.target.reset();
  } catch (error) {
    at("article-problem").textContent = error.message;
  }
});
at("publish-overlays").addEventListener("click", () =>
  call("overlays/publish", {}).catch((error) => (at("review-problem").textContent = error.message)),
);
addEventListener("hashchange", showView);
// The console's one stream of changes, which is also what makes the operator online.
addEventListener("console-change", look);
showView();
look();
