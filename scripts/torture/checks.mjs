// What must hold after any number of crashes: acknowledged is stored exactly once, unacknowledged at most once.

/**
 * Returns what a run has broken, each as `{ problem, detail }`, and the counts of what was found.
 *
 * `stored` is what the service holds in the end: `histories` (messages by conversation, as the API returns them),
 * `messages` (`{ conversation, role, content }`), `events` (`{ batch, index }`), `items` (external ids) and `jobs`
 * (`{ id, status, attempts, path, run }`).
 */
export function check(ledger, stored) {
  const broken = [];
  const found = { once: 0, missing: 0, doubled: 0 };
  const report = (problem, detail) => broken.push({ problem, detail });
  for (const { path, key, problem, detail } of ledger.refusals) report(problem, { path, key, detail });
  checkHistories(ledger, stored.histories, report, found);
  checkMessages(ledger, stored.messages, report);
  checkWhole(
    ledger.batches,
    countBy(stored.events, ({ batch }) => batch),
    "batch",
    report,
    found,
  ); // prettier-ignore
  for (const [event, count] of countBy(stored.events, ({ batch, index }) => `${batch} ${index}`)) {
    if (count > 1) report("an event is stored twice", event);
  }
  checkWhole(ledger.pages, countBy(stored.items, pageOf), "page", report, found);
  checkJobs(ledger, stored, report, found);
  return { broken, found };
}

const pageOf = (externalId) => externalId.slice(0, externalId.lastIndexOf("-"));

function countBy(list, name) {
  const counts = new Map();
  for (const one of list) counts.set(name(one), (counts.get(name(one)) ?? 0) + 1);
  return counts;
}

/** Checks each conversation as its visitor reads it. */
function checkHistories(ledger, histories, report, found) {
  for (const [conversation, sent] of ledger.conversations()) {
    const history = histories.get(conversation) ?? [];
    checkHistory({ conversation, sent, history, seen: ledger.seen.get(conversation) ?? [] }, report, found);
  }
}

/** Checks one conversation. `sent` are its acknowledged messages, `seen` the ids that polls returned. */
export function checkHistory({ conversation, sent, history, seen }, report, found) {
  const places = new Map();
  history.forEach(({ id }, place) => {
    if (places.has(id)) report("a history contains a message twice", { conversation, id });
    places.set(id, place);
  });
  let last = -1;
  for (const { text, acknowledged } of sent) {
    const copies = history.filter(({ content }) => content === text).length;
    if (copies === 0) {
      found.missing += 1;
      report("an acknowledged message is missing", { conversation, text });
    } else if (copies > 1) {
      found.doubled += 1;
      report("an acknowledged message is stored twice", { conversation, text });
    } else found.once += 1;
    const place = places.get(acknowledged.userMessageId);
    if (place === undefined) {
      if (copies > 0) report("an acknowledged message has another id", { conversation, text });
      continue;
    }
    if (history[place].content !== text) report("an acknowledged message has another text", { conversation, text });
    if (place < last) report("messages are out of order", { conversation, text });
    last = place;
    const reply = acknowledged.message?.id;
    if (!reply) continue;
    if (!places.has(reply)) report("an acknowledged reply is missing", { conversation, text });
    else if (places.get(reply) < place) report("a reply comes before its message", { conversation, text });
  }
  const replies = history.filter(({ role }) => role === "assistant").length;
  const written = history.filter(({ role }) => role === "visitor").length;
  const acknowledged = sent.filter(({ acknowledged }) => acknowledged.message?.id).length;
  // A visitor who left may have got no reply to what they wrote.
  const unacknowledged = written - sent.length;
  if (replies > acknowledged + unacknowledged) {
    report("a message has two replies", { conversation, replies, written });
  }
  checkSeen({ conversation, seen, places }, report);
}

/** Checks that what polls returned is still there, once and in the same order. */
function checkSeen({ conversation, seen, places }, report) {
  let last = -1;
  for (const id of seen) {
    const place = places.get(id);
    if (place === undefined) report("a message that was shown is missing", { conversation, id });
    else if (place <= last) report("a message was shown twice, or out of order", { conversation, id });
    last = place ?? last;
  }
}

/** Checks all stored messages of visitors, also those that nobody acknowledged. */
function checkMessages(ledger, messages, report) {
  const known = new Map(ledger.messages.map((message) => [message.text, message]));
  const written = messages.filter(({ role }) => role === "visitor");
  for (const [text, count] of countBy(written, ({ content }) => content)) {
    const message = known.get(text);
    if (!message) report("a message is stored that nobody sent", text);
    else if (count > 1 && !message.acknowledged) report("an unacknowledged message is stored twice", text);
    else if (count > 1) report("an acknowledged message is stored twice", { text });
  }
}

/** Checks that batches are stored whole: once if they were acknowledged, else once or not at all. */
function checkWhole(sent, counts, what, report, found) {
  for (const { name, size, acknowledged } of sent) {
    const count = counts.get(name) ?? 0;
    counts.delete(name);
    if (count === 0 && acknowledged) {
      found.missing += 1;
      report(`an acknowledged ${what} is missing`, name);
    } else if (count > size) {
      found.doubled += 1;
      report(`a ${what} is stored twice`, name);
    } else if (count > 0 && count < size) report(`a ${what} is stored in part`, { name, count, size });
    else if (acknowledged) found.once += 1;
    if (acknowledged && acknowledged.accepted !== size)
      report(`a ${what} was accepted in part`, { name, acknowledged });
  }
  for (const name of counts.keys()) report(`a ${what} is stored that nobody sent`, name);
}

/** Checks that each item led to one job, which was handed out, executed and reported once. */
function checkJobs({ pages, claims, completions }, { items, jobs }, report, found) {
  const paths = countBy(jobs, ({ path }) => path);
  for (const externalId of items) {
    const path = `/${pageOf(externalId)}/${externalId.slice(externalId.lastIndexOf("-") + 1)}`;
    if (!paths.has(path)) report("an item has no job", externalId);
    else if (paths.get(path) > 1) report("an item has two jobs", externalId);
  }
  const expired = new Set(claims.filter((claim) => claim.expired).map((claim) => claim.job.id));
  const claimed = countBy(claims, ({ job }) => job.id);
  for (const [id, count] of claimed) {
    if (count > 1 && !expired.has(id)) report("a job was handed out twice", id);
  }
  const reports = countBy(
    completions.filter(({ acknowledged }) => acknowledged),
    ({ id }) => id,
  ); // prettier-ignore
  for (const [id, count] of reports) if (count > 1) report("a job was completed twice", id);
  const runs = new Map(completions.map((completion) => [completion.id, completion.run]));
  const known = new Set(jobs.map(({ id }) => id));
  for (const id of claimed.keys()) if (!known.has(id)) report("a job that was handed out is missing", id);
  for (const { id, status, run } of jobs) {
    if (!claimed.has(id)) {
      found.missing += 1;
      report("a job was never handed out", id);
    } else if (status !== "succeeded") report("a completed job has another status", { id, status });
    else if (!expired.has(id) && run !== runs.get(id))
      report("a job has another result than was reported", { id, run });
    else found.once += 1;
  }
  if (pages.length > 0 && jobs.length === 0) report("no job was made", null);
}
