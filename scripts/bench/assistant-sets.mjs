// The questions of `npm run bench:assistant`: those of the repository, and public ones from a folder outside of it.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../setup.mjs";

/** Phrasings of an answer, as an operator might write them. */
const PHRASINGS = 5;
/** The maximum characters of a question of the admin API, with all of its phrasings. */
const MAX_QUESTION_LENGTH = 500;
/** The pages of the site by which the time of a question is measured, and the paragraphs of each. */
export const MANY_PAGES = 1000;
const PARAGRAPHS = 3;

export const XQUAD_LANGUAGES = ["ar", "de", "el", "en", "es", "hi", "ro", "ru", "th", "tr", "vi", "zh"];

/** Takes `count` entries of a list, spread over all of it. */
export const sample = (list, count) =>
  list.length <= count ? list : Array.from({ length: count }, (_, at) => list[Math.floor((at * list.length) / count)]);

/** Reads CSV with quoted fields. */
function rows(text) {
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/gy;
  const all = [[]];
  for (let match = field.exec(text); match && field.lastIndex <= text.length; match = field.exec(text)) {
    all.at(-1).push(match[1]?.replaceAll('""', '"') ?? match[2]);
    if (match[3] !== ",") {
      if (field.lastIndex >= text.length) break;
      all.push([]);
    }
  }
  return all.slice(1).filter((row) => row.length === 2);
}

/**
 * Makes answers out of phrasings from all of an intent's training data, which has those that are alike beside each other. The
 * text of an answer tells nothing about its question.
 */
function answersOf(train) {
  const byIntent = new Map();
  for (const row of train) byIntent.set(row[1], [...(byIntent.get(row[1]) ?? []), row]);
  return [...byIntent].map(([intent, list], number) => {
    let question = "";
    for (const [text] of sample(list, PHRASINGS)) {
      const longer = question ? `${question}\n${text}` : text;
      if (longer.length <= MAX_QUESTION_LENGTH) question = longer;
    }
    return { intent, question, answer: `This is answer ${number}.` };
  });
}

const expecting = ([text, intent]) => ({ text, expect: [intent] });
const withoutAnswer = ([text]) => ({ text, expect: [] });

/** Returns the sites with answers: each has answers, questions, and questions without an answer. */
export function answerSets(folder) {
  const clinc = JSON.parse(readFileSync(join(folder, "clinc.json"), "utf8"));
  const outside = clinc.oos_test.map(withoutAnswer);
  const banking = (name) => rows(readFileSync(join(folder, `b77.${name}.csv`), "utf8"));
  return [
    {
      name: "BANKING77",
      share: 0.97,
      answers: answersOf(banking("train")),
      questions: banking("test").map(expecting),
      outside,
    },
    { name: "CLINC150", share: 0.96, answers: answersOf(clinc.train), questions: clinc.test.map(expecting), outside },
  ];
}

/** Returns the paragraphs of a language as pages, and their questions with the texts that answer them. */
export function xquad(folder, language) {
  const articles = JSON.parse(readFileSync(join(folder, `xquad.${language}.json`), "utf8")).data;
  const pages = [];
  const questions = [];
  for (const [number, { title, paragraphs }] of articles.entries()) {
    for (const { context, qas } of paragraphs) {
      const id = `p${pages.length}`;
      pages.push({ id, article: number, title: title.replaceAll("_", " "), content: context, locale: language });
      for (const { question, answers } of qas) {
        const texts = answers.map(({ text }) => text);
        questions.push({ text: question, expect: [id], article: number, texts });
      }
    }
  }
  return { pages, questions };
}

/** Leaves out every other article, whose questions then have no answer. */
export function half({ pages, questions }) {
  const isKept = ({ article }) => article % 2 === 0;
  const outside = questions.filter((question) => !isKept(question)).map((question) => ({ ...question, expect: [] }));
  return { pages: pages.filter(isKept), questions: questions.filter(isKept), outside };
}

/** Returns a site of many pages, each of some paragraphs. */
export function many({ pages, questions }) {
  const paragraph = (at) => pages[at % pages.length].content;
  const page = (_, at) => ({
    ...pages[at % pages.length],
    id: `p${at}`,
    content: Array.from({ length: PARAGRAPHS }, (_, next) =>
      paragraph(at + next * (7 + Math.floor(at / pages.length))),
    ).join("\n"),
  });
  return { pages: Array.from({ length: MANY_PAGES }, page), questions };
}

/** Returns the sets of the repository: invented businesses in four languages. */
export function ownSets() {
  const folder = join(root, "crates/service/src/knowledge/retrieval_tests");
  return ["english", "german", "arabic", "chinese"].map((name) => {
    const { locale, pages, questions } = JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8"));
    const read = questions.map(({ ask, expect }) => ({ text: ask, expect }));
    return {
      name,
      locale,
      pages: pages.map((page) => ({ ...page, locale })),
      questions: read.filter(({ expect }) => expect.length > 0),
      outside: read.filter(({ expect }) => expect.length === 0),
    };
  });
}

export const hasFile = (folder, name) => folder !== undefined && existsSync(join(folder, name));
