// Measures the built-in assistant by the service's own routes: right answers, false answers to questions that have none, whether
// the answer stands in what a model or a visitor gets, and the time of a question.
//
//   npm run bench:assistant -- [--data FOLDER] [--sample N] [--figure own|answers|xquad|cross|time]… [--debug]
//
// Without a folder (or CHAT_ASSISTANT_DATA), it asks the questions of the repository. docs/contributing.md says which
// files the folder has. Nothing of the assistant may be tuned with them.

import { parseArgs } from "node:util";
import { operatorOf, startService } from "../tests/e2e/service.mjs";
import { answerSets, half, hasFile, many, ownSets, sample, XQUAD_LANGUAGES, xquad } from "./bench/assistant-sets.mjs";
import { FLAGS, rank } from "./bench/team.mjs";
import { buildConnector } from "./connector.mjs";
import { main, say } from "./setup.mjs";
import { serviceBinary } from "./torture/programs.mjs";

const { values: options } = parseArgs({
  options: {
    data: { type: "string", default: process.env.CHAT_ASSISTANT_DATA },
    sample: { type: "string", default: "300" },
    figure: { type: "string", multiple: true },
    debug: { type: "boolean", default: false },
    // A program that is measured instead, such as one of an earlier version.
    program: { type: "string" },
  },
});
const SAMPLE = Number(options.sample);
const PASSWORD = "seven green kettles on a shelf";
/** Items of one page of a sync. */
const SYNC_PAGE = 100;
/** False answers that are accepted where the right ones are counted. */
const FALSE_SHARE = 0.1;

const rows = [];
const share = (part, whole) => (whole === 0 ? "–" : (part / whole).toFixed(3).replace(/^0/, ""));
const figure = (name, value) => {
  rows.push([name, value]);
  say(`${name}: ${value}`);
};
const isWanted = (name) => !options.figure || options.figure.includes(name);
const folded = (text) =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/[\s.*#]+/g, "");

/** A service with its owner. */
async function start(command) {
  const service = await startService({ command, more: FLAGS });
  const owner = await operatorOf(service, { name: "Ann", email: "ann@shop.example", password: PASSWORD });
  return { ...service, owner };
}

/** Creates a site with pages or answers. */
async function site(service, { answers = [], pages = [] }) {
  const { site } = await service.admin("site", "create", "--name", "Site");
  const { token } = await service.admin("token", "create", "--site", site.id);
  const intents = new Map();
  for (const { intent, question, answer } of answers) {
    const stored = await service.owner.call("POST", `sites/${site.id}/answers`, { question, answer });
    intents.set(stored.answer.id, intent);
  }
  const post = async (path, key, body) => {
    const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json", ...key };
    const url = `${service.address}/api/connector/v1/${path}`;
    const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()).data;
  };
  for (let at = 0; at < pages.length; at += SYNC_PAGE) {
    const items = pages.slice(at, at + SYNC_PAGE).map(({ id, title, content, locale }) => ({
      ...{ externalId: id, type: "page", path: `/${id}`, title, content, locale },
    }));
    const page = at / SYNC_PAGE + 1;
    const key = { "Idempotency-Key": `content-sync-${site.id}-s-${page}` };
    await post("content/sync", key, { snapshotId: "s", page, complete: at + SYNC_PAGE >= pages.length, items });
  }
  const nameOf = (id) => (id.startsWith("answer:") ? intents.get(id.slice(7)) : id.slice(8));
  return {
    /** Returns the passages of a question, with the names that the set gives them, and its time. */
    async search(text, locale) {
      const began = performance.now();
      const found = await service.owner.call("POST", `sites/${site.id}/knowledge/search`, { question: text, locale });
      const ms = performance.now() - began;
      return { ms, passages: found.passages.map((passage) => ({ ...passage, name: nameOf(passage.id) })) };
    },
    /** Returns the reply to a visitor's first message. */
    ask: (text, locale) =>
      post("chat/messages", {}, { message: text, locale, visitor: { visitorId: crypto.randomUUID() } }),
  };
}

/** Asks questions, and returns each with its passages. */
async function askAll(asked, questions, locale) {
  const all = [];
  for (const question of questions) all.push({ ...question, ...(await asked.search(question.text, locale)) });
  return all;
}

const isFirst = ({ passages, expect }) => passages.length > 0 && expect.includes(passages[0].name);
const isFound = ({ passages, expect }) => passages.some(({ name }) => expect.includes(name));
const count = (list, test) => list.filter(test).length;
/** The certainty of an answer; a service that has none is as certain of all that it finds. */
const certainty = ({ passages }) => (passages.length === 0 ? 0 : (passages[0].certainty ?? 1));

/** Returns the share of the questions without an answer that are answered where this share of the others is. */
function falseAnswers(answerable, outside, wanted) {
  const certainties = answerable.map(certainty).sort((one, other) => other - one);
  const least = certainties[Math.max(Math.ceil(certainties.length * wanted) - 1, 0)];
  const isAnswered = (question) => certainty(question) > 0 && certainty(question) >= least;
  return [share(count(outside, isAnswered), outside.length), share(count(answerable, isAnswered), answerable.length)];
}

/** Returns the share of right answers where at most this share of the questions without an answer get one. */
function rightAnswers(answerable, outside) {
  const wrong = outside.map(certainty).sort((one, other) => other - one);
  const least = wrong[Math.floor(wrong.length * FALSE_SHARE)] ?? 0;
  return share(
    count(answerable, (question) => isFirst(question) && certainty(question) > least),
    answerable.length,
  );
}

async function measureOwn(service) {
  for (const set of ownSets()) {
    const asked = await site(service, set);
    const found = await askAll(asked, set.questions, set.locale);
    const outside = await askAll(asked, set.outside, set.locale);
    const silent = count(outside, ({ passages }) => passages.length === 0);
    const first = share(count(found, isFirst), found.length);
    figure(
      `own questions, ${set.name}: top-1, recall at 5, nothing found where there is nothing`,
      `${first} ${share(count(found, isFound), found.length)} ${share(silent, outside.length)}`,
    );
    const replies = [];
    for (const question of [...set.questions, ...set.outside])
      replies.push({ ...question, ...(await asked.ask(question.text, set.locale)) });
    const isAnswered = ({ outcome }) => outcome === "answered";
    const inside = replies.filter(({ expect }) => expect.length > 0);
    const beside = replies.filter(({ expect }) => expect.length === 0);
    figure(
      `own questions, ${set.name}: answered of those with and without an answer`,
      `${share(count(inside, isAnswered), inside.length)} ${share(count(beside, isAnswered), beside.length)}`,
    );
  }
}

async function measureAnswers(service) {
  for (const set of answerSets(options.data)) {
    const asked = await site(service, set);
    const found = await askAll(asked, sample(set.questions, SAMPLE * 4));
    figure(`${set.name}, 5 phrasings: top-1 (of ${found.length})`, share(count(found, isFirst), found.length));
    const outside = await askAll(asked, sample(set.outside, SAMPLE));
    const [wrong, answered] = falseAnswers(found, outside, set.share);
    figure(`${set.name}: false answers where ${answered} of the answerable are answered`, wrong);
  }
}

async function measureXquad(service) {
  for (const language of XQUAD_LANGUAGES) {
    const set = xquad(options.data, language);
    const asked = await site(service, set);
    const found = await askAll(asked, sample(set.questions, SAMPLE), language);
    figure(
      `XQuAD ${language}: top-1, recall at 5`,
      `${share(count(found, isFirst), found.length)} ${share(count(found, isFound), found.length)}`,
    );
    const stands = (text, texts) => texts.some((answer) => folded(text).includes(folded(answer)));
    const right = found.filter(isFound);
    const sent = count(right, ({ passages, texts }) => passages.some(({ text }) => stands(text, texts)));
    const first = sample(found.filter(isFirst), Math.ceil(SAMPLE / 3));
    let shown = 0;
    let replied = 0;
    for (const { text, texts } of first) {
      const { message, outcome } = await asked.ask(text, language);
      if (outcome !== "answered") continue;
      replied += 1;
      shown += stands(message.content, texts) ? 1 : 0;
    }
    figure(
      `XQuAD ${language}: the answer stands in what is sent, in what is shown, and is shown as one`,
      `${share(sent, right.length)} ${share(shown, replied)} ${share(replied, first.length)}`,
    );
    const parts = half(set);
    const fewer = await site(service, parts);
    const inside = await askAll(fewer, sample(parts.questions, SAMPLE), language);
    const outside = await askAll(fewer, sample(parts.outside, SAMPLE), language);
    figure(`XQuAD ${language}, half of the articles: right answers at 10 % false ones`, rightAnswers(inside, outside));
  }
}

async function measureCross(service) {
  const english = xquad(options.data, "en");
  const asked = await site(service, english);
  for (const language of XQUAD_LANGUAGES.filter((language) => language !== "en")) {
    const { questions } = xquad(options.data, language);
    const found = await askAll(asked, sample(questions, SAMPLE), language);
    figure(`English pages, questions in ${language}: recall at 5`, share(count(found, isFound), found.length));
  }
}

async function measureTime(service) {
  const set = many(xquad(options.data, "en"));
  const asked = await site(service, set);
  const found = await askAll(asked, sample(set.questions, SAMPLE), "en");
  const times = found.map(({ ms }) => ms).sort((one, other) => one - other);
  const shown = [0.5, 0.95, 1].map((part) => rank(times, part).toFixed(1));
  figure(`a question at ${set.pages.length} pages: p50, p95, longest, ms`, shown.join(" "));
}

await main(async () => {
  if (!options.program) buildConnector(...(options.debug ? [] : ["--release"]));
  const service = await start(options.program ?? serviceBinary(!options.debug));
  try {
    if (isWanted("own")) await measureOwn(service);
    const figures = { answers: measureAnswers, xquad: measureXquad, cross: measureCross, time: measureTime };
    for (const [name, measure] of Object.entries(figures)) {
      if (!isWanted(name)) continue;
      if (hasFile(options.data, "clinc.json") && hasFile(options.data, "xquad.en.json")) await measure(service);
      else say(`${name}: not measured, because no folder with the data is named (--data)`);
    }
  } finally {
    await service.stop();
  }
  const width = Math.max(...rows.map(([name]) => name.length));
  console.log(`\n${rows.map(([name, value]) => `| ${name.padEnd(width)} | ${value} |`).join("\n")}`);
});
