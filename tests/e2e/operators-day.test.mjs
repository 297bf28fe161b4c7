// A day and a night of three operators and twenty visitors: the real service, its proxy, the widget, and the console. The tests
// are the hours of the day, in their order. `BROWSER=firefox` runs them in Firefox.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { BROWSER, launch } from "./day/browser.mjs";
import { Journal } from "./day/journal.mjs";
import { openLine } from "./day/line.mjs";
import { ConsoleOperator } from "./day/operator.mjs";
import { startShop } from "./day/shop.mjs";
import { ShopVisitor } from "./day/visitor.mjs";
import { button } from "./inbox.mjs";
import { startTeam } from "./team.mjs";

const TIMEOUT = { timeout: 300_000 };
/** Visitors who arrive, or read, at the same time: a page starts slowly on a busy machine. */
const AT_ONCE = 4;
const NAMES = [
  "Anna Lindqvist",
  "Ben Okafor",
  "Cleo Marchand",
  "Dana Petrov",
  "Eli Novak",
  "Fay Sørensen",
  "Gus Lind",
  "Hana Sato",
  "Ivo Brandt",
  "Jo Almeida",
  "Kim Larsen",
  "Lea Fontaine",
  "Mia Rossi",
  "Nils Berg",
  "Olga Ivanova",
  "Pia Kurt",
  "Quirin Maier",
  "Rosa Ortega",
  "Sven Olsen",
  "Tara Singh",
];

const journal = new Journal();
/** The people of the day, by their names. */
const visitors = new Map();
const operators = new Map();
let browser;
let team;
let line;
let shop;

/** Calls a function for each item, for at most `AT_ONCE` at the same time. */
async function forEach(items, work) {
  const waiting = [...items.entries()];
  const worker = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) await work(next[1], next[0]);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

before(async () => {
  [team, browser] = await Promise.all([startTeam(), launch()]);
  line = await openLine(team.address);
  const { token } = await team.admin("token", "create", "--site", team.site.id);
  shop = await startShop(team.address, token);
});

after(async () => {
  await browser?.close();
  line?.stop();
  await shop?.stop();
  await team?.stop();
});

const [maren, noor, tom] = ["Maren", "Noor", "Tom"];
const at = (name) => operators.get(name);
const visitor = (name) => visitors.get(name);

/** Has each operator answer a third of the visitors, all at the same time. Returns the replies with their visitors. */
async function answerAll(names) {
  const answered = [...operators.values()].map(async (operator, share) => {
    const replies = [];
    for (const name of names.filter((_, place) => place % operators.size === share)) {
      await operator.opens(name);
      replies.push([name, await operator.replies(name)]);
    }
    return replies;
  });
  return (await Promise.all(answered)).flat();
}

test(`Three operators answer twenty visitors in ${BROWSER}, and each visitor hears the answer`, TIMEOUT, async () => {
  for (const account of team.operators)
    operators.set(account.name, await ConsoleOperator.arrive(browser, line.address, journal, account));
  await forEach(NAMES, async (name, number) => {
    visitors.set(name, await ShopVisitor.arrive(browser, shop, journal, name, number));
    await visitor(name).says("Where is my order?");
  });
  for (let round = 1; round <= 2; round += 1) {
    const replies = await answerAll(NAMES);
    await Promise.all(
      replies.map(async ([name, text]) => {
        await visitor(name).hears(text);
        await visitor(name).says();
      }),
    );
  }
});

test("A draft, a reply in its undo time and a visitor's message survive a restart", TIMEOUT, async () => {
  const [drafting, replying, reading] = [at(maren), at(noor), at(tom)];
  await Promise.all([drafting.opens(NAMES[0]), replying.opens(NAMES[1]), reading.opens(NAMES[2])]);
  await drafting.begins("Half of a sen");
  const reply = await replying.replies(NAMES[1]);
  await button(replying.page, "Undo").waitFor();
  let question;
  await team.restart("SIGTERM", async () => {
    await Promise.all([...operators.values()].map((operator) => operator.losesConnection()));
    question = await visitor(NAMES[2]).writes();
    // The undo time ends while the service is away.
    await button(replying.page, "Try now").waitFor();
  });
  await Promise.all([...operators.values()].map((operator) => operator.recovers()));
  await visitor(NAMES[1]).hears(reply);
  await visitor(NAMES[2]).delivers(question);
  await reading.sees(question);
  assert.equal(await drafting.draft(), "Half of a sen");
  await visitor(NAMES[0]).hears(await drafting.replies(NAMES[0]));
});

test("A reply whose response is lost by a crash arrives once, and so does one in its undo time", TIMEOUT, async () => {
  const [drafting, held, sent] = [at(tom), at(maren), at(noor)];
  await Promise.all([drafting.opens(NAMES[3]), held.opens(NAMES[4]), sent.opens(NAMES[5])]);
  await drafting.begins("Another half");
  const isAccepted = line.loseResponse(/^POST \S+\/messages /);
  const accepted = await sent.replies(NAMES[5]);
  await isAccepted;
  const undoable = await held.replies(NAMES[4]);
  await button(held.page, "Undo").waitFor();
  await team.restart("SIGKILL");
  await Promise.all([...operators.values()].map((operator) => operator.recovers()));
  await visitor(NAMES[5]).hears(accepted);
  await visitor(NAMES[4]).hears(undoable);
  assert.equal(await drafting.draft(), "Another half");
});

test("Without a network nothing written is lost on either side, and what was missed appears", TIMEOUT, async () => {
  const [offline, online] = [at(tom), at(noor)];
  await offline.opens(NAMES[7]);
  await online.opens(NAMES[8]);
  await offline.context.setOffline(true);
  await visitor(NAMES[8]).isOffline(true);
  await offline.losesConnection();
  const reply = await offline.replies(NAMES[7]);
  await button(offline.page, "Try now").waitFor();
  await offline.begins("A draft without a network");
  const missed = await visitor(NAMES[7]).says();
  const waiting = await visitor(NAMES[8]).writes();
  await offline.context.setOffline(false);
  await visitor(NAMES[8]).isOffline(false);
  await offline.recovers();
  await offline.sees(missed);
  await visitor(NAMES[7]).hears(reply);
  await visitor(NAMES[8]).delivers(waiting);
  await online.sees(waiting);
  assert.equal(await offline.draft(), "A draft without a network");
});

test("After a night asleep, consoles show what has happened, each row once", TIMEOUT, async () => {
  const drafts = [maren, noor, tom].map((name) => `A draft of ${name} in the evening`);
  const open = NAMES.slice(9, 12);
  await Promise.all(
    [...operators.values()].map(async (operator, place) => {
      await operator.opens(open[place]);
      await operator.begins(drafts[place]);
    }),
  );
  // The laptops sleep: their connections end without a word to them, and their clocks stand still until the morning.
  line.forget();
  const missed = await Promise.all(open.map((name) => visitor(name).says("Is anybody awake?")));
  const other = await visitor(NAMES[12]).says("I cannot sleep.");
  await Promise.all([...operators.values()].map(({ page }) => page.clock.fastForward("09:00:00")));
  await Promise.all([...operators.values()].map((operator, place) => operator.sees(missed[place])));
  for (const [place, operator] of [...operators.values()].entries()) {
    assert.equal(await operator.draft(), drafts[place]);
    await operator.page.locator("#conversations").getByText(other).waitFor();
    assert.deepEqual((await operator.names()).toSorted(), NAMES.toSorted());
  }
  const replies = await Promise.all(
    [...operators.values()].map((operator, place) => operator.replies(open[place], "Good morning.")),
  );
  await Promise.all(open.map((name, place) => visitor(name).hears(replies[place])));
});

test(
  "Each message was seen by the right person, once and in order, and no console was loaded again",
  TIMEOUT,
  async () => {
    const readers = [...operators.values()];
    const seenByVisitors = new Map();
    await forEach(NAMES, async (name) => {
      const { texts, unseen } = await visitor(name).reads(journal.count(name));
      assert.deepEqual(unseen, [], `${name} cannot see them`);
      seenByVisitors.set(name, texts);
    });
    await Promise.all(
      readers.map(async (operator, share) => {
        for (const name of NAMES.filter((_, place) => place % readers.length === share)) {
          await operator.opens(name);
          const { texts, unseen } = await operator.reads(journal.count(name));
          assert.deepEqual(unseen, [], `${operator.name} cannot see them`);
          assert.deepEqual(texts, seenByVisitors.get(name), `${name} and ${operator.name} see the same`);
        }
      }),
    );
    for (const name of NAMES) {
      const texts = seenByVisitors.get(name);
      for (const author of ["visitor", "operator"]) {
        const written = journal.of(name, author);
        assert.deepEqual(
          texts.filter((text) => written.includes(text)),
          written,
          `the texts of the ${author} in the conversation of ${name}`,
        );
      }
      assert.equal(texts.length, journal.count(name), `${name} sees nothing else`);
    }
    for (const operator of readers) {
      await operator.isSameDocument();
      assert.deepEqual(operator.errors, []);
    }
  },
);
