// Another website in the operator's browser can neither read nor change anything in the console.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { visitorOf } from "./console.mjs";
import { test } from "./harness.mjs";

/** Tries the requests that need no preflight: forms, `no-cors`, streams, images, scripts, frames. */
async function attack(sandbox) {
  const ends = (target, done, failed) =>
    new Promise((resolve) => {
      target.addEventListener(done, () => resolve("opened"), { once: true });
      target.addEventListener(failed, () => resolve("refused"), { once: true });
    });
  const results = {};
  const simple = { method: "POST", mode: "no-cors", credentials: "include" };
  const paths = ["/operator/api/overlays/publish", "/operator/api/articles", "/sandbox/jobs", "/sandbox/operator"];
  // The response is opaque either way; the sandbox shows whether anything changed.
  for (const path of paths) {
    await fetch(sandbox + path, simple).catch(() => {});
    const text = { ...simple, headers: { "Content-Type": "text/plain" }, body: '{"title":"x"}' };
    await fetch(sandbox + path, text).catch(() => {});
  }
  for (const method of ["PUT", "DELETE", "POST"]) {
    const response = fetch(`${sandbox}/sandbox/conversations`, {
      method,
      headers: { "Content-Type": "application/json" },
    });
    results[`cors ${method}`] = await response.then(
      () => "answered",
      () => "refused",
    );
  }
  results.read = await fetch(`${sandbox}/sandbox/conversations`).then(
    () => "answered",
    () => "refused",
  );
  const stream = new EventSource(`${sandbox}/operator/api/changes`);
  results.stream = await ends(stream, "open", "error");
  for (const [tag, path] of [
    ["img", "/operator/icon.svg"],
    ["script", "/operator/console.js"],
  ]) {
    const element = document.createElement(tag);
    const ended = ends(element, "load", "error");
    element.src = sandbox + path;
    document.body.append(element);
    results[tag] = await ended;
  }
  const frame = document.createElement("iframe");
  frame.src = `${sandbox}/operator`;
  const framed = new Promise((resolve) => frame.addEventListener("load", resolve));
  document.body.append(frame);
  await framed;
  return results;
}

for (const [where, host] of [
  ["another site", "localhost"],
  ["another port of the same site", "127.0.0.1"],
]) {
  test(`A page of ${where} can neither read nor change anything in the console`, async ({
    operator,
    server,
    service,
  }) => {
    const foreign = createServer((_, response) =>
      response.setHeader("Content-Type", "text/html").end("<p>Foreign</p>"),
    );
    await new Promise((resolve) => foreign.listen(0, "127.0.0.1", resolve));
    try {
      const id = await visitorOf(service, "Anna").say("Hello");
      const page = await operator();
      await page.goto(`http://${host}:${foreign.address().port}/`);
      const results = await page.evaluate(attack, service.origin);
      const refused = ["cors PUT", "cors DELETE", "cors POST", "read", "stream", "img", "script"];
      assert.deepEqual(results, Object.fromEntries(refused.map((name) => [name, "refused"])));
      assert.equal(await page.frames()[1]?.locator("#status").count(), 0, "the console is not framed");
      const { id: still } = await server.conversation();
      assert.equal(still, id, "no conversation was deleted");
      const site = await (await fetch(`${service.origin}/operator/api/site`)).json();
      assert.deepEqual([site.reviews, site.jobs], [[], []]);

      // A link may still lead to the console.
      await page.evaluate((address) => location.assign(address), server.console);
      await page.getByText("You are online").waitFor();
    } finally {
      foreign.close();
    }
  });
}
