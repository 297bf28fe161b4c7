// Policy, storage, language and colours of the page around the widget, and a screen as small as a phone's.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { REFUSES, eventually, allFilesLoaded } from "../e2e/chat.mjs";
import { FAST_POLLING, WELCOME } from "../e2e/sandbox.mjs";
import { test } from "./harness.mjs";
import { Key } from "./tab.mjs";

const QUESTION = "How long does delivery take?";

test("A visit under the strictest policy reports no violation and logs nothing", async ({ visit, server }) => {
  await server.setFaults(FAST_POLLING);
  const tab = await visit();
  const policy = (await fetch(tab.shop.origin)).headers.get("content-security-policy");
  for (const rule of ["default-src 'none'", "style-src 'self'", "require-trusted-types-for 'script'"]) {
    assert.ok(policy.includes(rule), `${rule} in ${policy}`);
  }
  await tab.openChat();
  await tab.ask(QUESTION);
  await server.operatorSays("Anna here, see https://shop.example/mugs.");
  await tab.has("message-operator", 1);
  await server.setFaults({ only: "send", status: 402, times: 1 });
  await tab.press("Thank you", Key.RETURN);
  await tab.has("message-failed", 1);
  await tab.click("retry");
  await tab.has("message-failed", 0);
  await tab.answered(2);
  await tab.reload();
  await tab.stayedOpen();
  await tab.showsAll(server);
});

test("The record notices violations, log messages and requests to other origins", async ({ visit }) => {
  const tab = await visit({
    first: () =>
      addEventListener("load", () => {
        const picture = new Image();
        picture.src = "https://elsewhere.example/pixel.png";
        console.error("something is wrong");
        Promise.reject(new Error("nobody catches this"));
        document.body.innerHTML = "<b>";
      }),
  });
  const { complaints } = tab.shop;
  const expected = [
    /^policy: img-src https:\/\/elsewhere\.example/,
    /^policy: require-trusted-types-for/,
    /^console error: something is wrong/,
    /^unhandled rejection: .*nobody catches this/,
    // The exception for an untrusted string.
    /^error: .*TypeError/,
    // The browser's own reports, which contain the whole policy as well.
    /"effective-directive":"img-src"/,
    /"effective-directive":"require-trusted-types-for"/,
  ];
  await eventually(() => {
    const reported = complaints.join("\n");
    for (const one of expected)
      assert.ok(
        complaints.some((complaint) => one.test(complaint)),
        `${one} in\n${reported}`,
      );
    // A later complaint would fail the test at its end.
    assert.equal(complaints.length, expected.length, reported);
  });
  complaints.splice(0);
});

test("The chat works where storage is blocked, and stores nothing", async ({ visit, server }) => {
  const tab = await visit({ first: REFUSES["is blocked"] });
  await tab.openChat();
  await tab.ask(QUESTION);
  await tab.ask("Can I book a workshop?");
  await tab.showsAll(server);
  await tab.reload();
  // Session storage is not blocked here.
  await tab.stayedOpen();
  assert.deepEqual(await tab.messages(), [`assistant: ${WELCOME}`]);
  await tab.ask(QUESTION);
  assert.equal((await server.conversations()).length, 2);
});

test("In Arabic the chat is on the left and its text runs from right to left", async ({ visit }) => {
  const tab = await visit({ tag: { locale: "ar" } });
  await tab.openChat();
  const launcher = await tab.box("launcher");
  assert.ok(launcher.right < launcher.screen / 2, "the launcher is at the left");
  assert.equal((await tab.box("window")).left, launcher.left, "the window is above it");
  assert.ok((await tab.box("send")).right <= (await tab.box("input")).left, "the button is behind the text");
  assert.equal(await tab.read("window", ([{ parentElement }]) => parentElement.dir), "rtl");
  const direction = (name) => tab.read(name, ([element]) => getComputedStyle(element).direction);
  for (const name of ["window", "message", "input"]) assert.equal(await direction(name), "rtl", name);
  await tab.press("كم يستغرق التوصيل؟");
  assert.equal(await direction("input"), "rtl");
  await tab.press(Key.RETURN);
  await tab.has("message-visitor", 1);
  await tab.has("message-assistant", 2);
});

const background = (tab, name) => tab.read(name, ([element]) => getComputedStyle(element).backgroundColor);

/** Returns a colour in the browser's notation. */
const asRgb = (hex) =>
  `rgb(${hex
    .match(/\w\w/g)
    .map((pair) => Number.parseInt(pair, 16))
    .join(", ")})`;

test("The launcher and the window use the theme's colours, overridden by the page's tokens", async ({ visit }) => {
  const rose = readFileSync(new URL("../../themes/rose.css", import.meta.url), "utf8");
  const [, accent] = rose.match(/--cw-accent: light-dark\((#\w{6})/);
  const [, header] = rose.match(/--cw-header-bg: light-dark\((#\w{6})/);
  const themed = await visit({ tag: { theme: "rose" } });
  await allFilesLoaded(themed);
  // The colour changes under the pointer.
  assert.equal(await background(themed, "launcher"), asRgb(accent));
  await themed.openChat();
  assert.equal(await background(themed, "header"), asRgb(header));
  const own = await visit({ tag: { theme: "rose", "theme-tokens": '{"accent":"#123456"}' } });
  await allFilesLoaded(own);
  assert.equal(await background(own, "launcher"), asRgb("#123456"));
  await own.openChat();
  assert.equal(await background(own, "header"), asRgb(header));
});

test("On a screen 320 px wide the window fills the screen and nothing scrolls sideways", async ({ visit, server }) => {
  await server.setFaults(FAST_POLLING);
  const long = `${"Donaudampfschifffahrtsgesellschaft".repeat(8)} https://shop.example/${"path/".repeat(40)}`;
  const tab = await visit({ narrow: true });
  await tab.openChat();
  const { left, width, height, screen } = await tab.box("window");
  assert.deepEqual([left, width, height, screen], [0, 320, 600, 320]);
  await tab.ask(long);
  await server.operatorSays(long);
  await tab.has("message-operator", 1);
  for (const name of ["log", "window"]) {
    assert.equal(await tab.read(name, ([{ scrollWidth, clientWidth }]) => scrollWidth - clientWidth), 0, name);
  }
  const sideways = () => document.scrollingElement.scrollWidth - document.documentElement.clientWidth;
  assert.equal(await tab.evaluate(sideways), 0);
  await tab.click("close");
  await tab.has("window", 0);
});

test("An invalid contact address shows its error below the contact line", async ({ visit, server }) => {
  await server.setFaults(FAST_POLLING);
  const tab = await visit();
  await tab.openChat();
  await tab.ask(QUESTION);
  const shadow = (work) => tab.evaluate(`return (${work})(document.querySelector("chat-widget").shadowRoot)`);
  await shadow((root) => root.querySelector("[part=menu]").click());
  await eventually(() => shadow((root) => root.querySelector("[part=menu-contact]").click()));
  await tab.part("form");
  await shadow((root) => root.querySelector("[part=contact-more]").click());
  const order = () =>
    shadow((root) => {
      const elements = [...root.querySelectorAll("form > :is(label, .cw-error)")];
      const top = (element) => element.getBoundingClientRect().top;
      return elements
        .sort((one, other) => top(one) - top(other))
        .map((element) => element.querySelector("input")?.name ?? "error");
    });
  await shadow((root) => root.querySelector("[name=email]").focus());
  await tab.press("ingrid@", Key.RETURN);
  await eventually(async () => assert.deepEqual(await order(), ["email", "name", "tel", "error"]));
  await tab.press(Key.BACK_SPACE.repeat(7), Key.RETURN);
  await eventually(async () => assert.deepEqual(await order(), ["email", "name", "tel", "error"]));
});
