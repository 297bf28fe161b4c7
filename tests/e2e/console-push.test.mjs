// Notifications while the console is closed: the switch in the account, and the service worker that shows them. Headless
// Chromium has no push service, so that a subscription is made up where one is needed, and pushes come from the debugger.

import assert from "node:assert/strict";
import { createECDH, randomBytes } from "node:crypto";
import { eventually } from "./chat.mjs";
import { open, team, test, withTeam } from "./console-harness.mjs";
import { visitorOf } from "./team.mjs";

const TITLE = "A visitor wants to talk to a person";

withTeam({ names: ["Maren", "Noor"] });

const operator = (name) => team.operators.find((one) => one.name === name);
const toggle = (page) => page.getByRole("switch", { name: /Notify this device/ });

/** Opens the account of an operator whose browser allows notifications. */
async function openAccount(name, prepare = async () => {}) {
  const opened = await open("/console/account", operator(name));
  await opened.context.grantPermissions(["notifications"], { origin: team.address });
  await prepare(opened.context);
  await opened.page.reload();
  await toggle(opened.page).waitFor();
  return opened;
}

/** Replaces the browser's subscriptions by ones that are made up, with real keys, and records what they are made with. */
const madeUp = (seed) => async (context) => {
  const keys = createECDH("prime256v1");
  keys.generateKeys();
  const json = {
    endpoint: `https://push.example/send/${seed}`,
    keys: { p256dh: keys.getPublicKey("base64url"), auth: randomBytes(16).toString("base64url") },
  };
  await context.addInitScript((json) => {
    const made = () => JSON.parse(localStorage.getItem("test-subscription"));
    const subscription = {
      toJSON: () => json,
      unsubscribe: async () => {
        localStorage.removeItem("test-subscription");
        return true;
      },
    };
    PushManager.prototype.getSubscription = async () => (made() ? subscription : null);
    PushManager.prototype.subscribe = async (options) => {
      if (made() && made().applicationServerKey !== options.applicationServerKey) throw new Error("another key");
      localStorage.setItem("test-subscription", JSON.stringify(options));
      return subscription;
    };
  }, json);
};

/** Returns the debugger of a page's service worker, and the id of its registration. */
async function debuggerOf(page) {
  const session = await page.context().newCDPSession(page);
  const registered = new Promise((resolve) => {
    session.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
      const own = registrations.find(
        ({ scopeURL, isDeleted }) => scopeURL === `${team.address}/console/` && !isDeleted,
      );
      if (own) resolve(own.registrationId);
    });
  });
  await session.send("ServiceWorker.enable");
  return { session, registrationId: await registered };
}

/** Registers the worker of a page as the console does, and delivers a push to it. */
async function deliver(page, message) {
  // A push to a worker that is not active yet is lost.
  const stateOfWorker = async () => (await navigator.serviceWorker.getRegistration("/console/"))?.active?.state;
  await eventually(async () => assert.equal(await page.evaluate(stateOfWorker), "activated"));
  const { session, registrationId } = await debuggerOf(page);
  const data = typeof message === "string" ? message : JSON.stringify(message);
  await session.send("ServiceWorker.deliverPushMessage", { origin: team.address, registrationId, data });
}

const notifications = (page) =>
  page.evaluate(async () => {
    const registration = await navigator.serviceWorker.getRegistration("/console/");
    const shown = await registration.getNotifications();
    return shown.map(({ title, body, tag, data }) => ({ title, body, tag, data }));
  });

/** Delivers a push until its notification is shown: one of the debugger can get lost while the worker starts. */
const deliverShown = (page, message, isOf) =>
  eventually(async () => {
    await deliver(page, message);
    await eventually(async () => assert.ok((await notifications(page)).some(isOf)), 2_000);
  });

test("A browser whose push service refuses is told so, and stays switched off", async () => {
  const { page, errors } = await openAccount("Maren");
  await eventually(() => toggle(page).isEnabled());
  assert.equal(await toggle(page).isChecked(), false);
  await toggle(page).click();
  await page.getByText(/^This device was not added: ./).waitFor();
  await eventually(async () => !(await toggle(page).isChecked()));
  assert.deepEqual((await operator("Maren").call("GET", "push")).devices, []);
  // Chromium says that a private window has no pushes.
  const others = errors.splice(0).filter((line) => !line.includes("Push API"));
  assert.deepEqual(others, []);
});

test("A device is added with the key of the service, listed, and removed", async () => {
  const { page } = await openAccount("Maren", madeUp("listed"));
  await toggle(page).click();
  await page.getByText("This device", { exact: true }).waitFor();
  const { publicKey, devices } = await operator("Maren").call("GET", "push");
  assert.equal(devices.length, 1);
  const options = await page.evaluate(() => JSON.parse(localStorage.getItem("test-subscription")));
  assert.deepEqual(options, { userVisibleOnly: true, applicationServerKey: publicKey });
  assert.equal(await toggle(page).isChecked(), true);

  // A service with another key, as after a restored database, gets a new subscription.
  const key = await page.evaluate(() => {
    const stored = JSON.parse(localStorage.getItem("console.push"));
    localStorage.setItem("console.push", JSON.stringify({ ...stored, key: "old" }));
    localStorage.setItem("test-subscription", JSON.stringify({ applicationServerKey: "old" }));
    return stored.key;
  });
  assert.equal(key, publicKey);
  await page.reload();
  await eventually(async () => {
    const made = await page.evaluate(() => JSON.parse(localStorage.getItem("test-subscription")));
    return made?.applicationServerKey === publicKey;
  });

  await page.getByRole("button", { name: /^Remove / }).click();
  await page.getByText("The device is not notified any more.").waitFor();
  assert.deepEqual((await operator("Maren").call("GET", "push")).devices, []);
  assert.equal(await page.evaluate(() => localStorage.getItem("test-subscription")), null);
});

test("A push is shown by the worker, replaces that of its conversation, and opens it in the console", async () => {
  const visitor = visitorOf(team, { name: "Ann" });
  await visitor.say("I would like to talk to a person");
  const conversation = visitor.conversationId;
  const { page, context } = await openAccount("Noor", madeUp("shown"));
  await toggle(page).click();
  await page.getByText("This device", { exact: true }).waitFor();
  for (const body of ["First", "Second"]) {
    const message = { title: TITLE, body, conversation, lang: "en", dir: "ltr" };
    await deliverShown(page, message, (shown) => shown.body === body);
  }
  assert.deepEqual(await notifications(page), [
    { title: TITLE, body: "Second", tag: conversation, data: { conversation } },
  ]);

  // So does one about several conversations, which leads to the inbox.
  for (const count of [2, 3]) {
    const title = `Conversations that need you: ${count}`;
    const message = { title, body: "Hello?", conversation: "", tag: "inbox", lang: "en", dir: "ltr" };
    await deliverShown(page, message, (shown) => shown.title === title);
  }
  const several = (await notifications(page)).filter(({ tag }) => tag === "inbox");
  assert.deepEqual(
    several.map(({ title, data }) => ({ title, data })),
    [{ title: "Conversations that need you: 3", data: { conversation: "" } }],
  );

  // A push without readable content is shown as well.
  await deliverShown(page, "no JSON", (shown) => shown.title === "Chat console");

  // The browser gives no way to click a notification: the worker gets the event as the browser would send it.
  const worker = context.serviceWorkers().find((one) => one.url().endsWith("/push-worker.js"));
  await worker.evaluate((conversation) => {
    const event = new ExtendableEvent("notificationclick");
    event.notification = { close() {}, data: { conversation } };
    self.dispatchEvent(event);
  }, conversation);
  await page.waitForURL(`**/console/inbox/${conversation}`);
  await page.getByRole("form", { name: "Write" }).waitFor();
});
