// The development loop of docs/contributing.md: `trunk serve` beside the sandbox, on ports of the test.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { freePort } from "../../scripts/servers.mjs";
import { read } from "../docs-snippets.mjs";
import { ask, openChat, part } from "./chat.mjs";
import { launch, startDemo } from "./demo.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
/** The sandbox's port in Trunk.toml. */
const [, SANDBOX] = read("Trunk.toml").match(/backend = "http:\/\/127\.0\.0\.1:(\d+)\/connector"/);

let demo;
let trunk;
let browser;
let address;

before(async () => {
  demo = await startDemo(undefined, ["--port", SANDBOX]);
  // Trunk does not tell which port it has chosen.
  const flags = ["serve", "--port", await freePort(), "--no-autoreload"];
  trunk = spawn("trunk", flags, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  const lines = [];
  address = await new Promise((resolve, reject) => {
    for (const output of [trunk.stdout, trunk.stderr])
      createInterface(output).on("line", (line) => {
        lines.push(line);
        // Trunk names the sandbox as well, to which it passes requests on.
        const [found, port] = line.match(/http:\/\/127\.0\.0\.1:(\d+)\//) ?? [];
        if (found && port !== SANDBOX) resolve(found);
      });
    trunk.once("error", reject).once("exit", () => reject(new Error(`trunk ended:\n${lines.join("\n")}`)));
  });
  browser = await launch();
});

after(async () => {
  await browser?.close();
  trunk?.kill();
  await demo?.stop();
});

test("The page of `trunk serve` shows the launcher, and the chat works", async () => {
  const page = await browser.newPage();
  await page.goto(address);
  await part(page, "launcher").waitFor();
  await openChat(page);
  await ask(page, "How long does delivery take?");
});

test("The page takes its theme from the URL", async () => {
  const colours = [];
  for (const theme of ["teal", "rose"]) {
    const page = await browser.newPage();
    await page.goto(`${address}?theme=${theme}`);
    await part(page, "launcher").waitFor();
    colours.push(await part(page, "launcher").evaluate((launcher) => getComputedStyle(launcher).backgroundColor));
  }
  assert.notEqual(...colours);
});
