// The journals of the tests, each in a real store outside of the process that runs jobs.

import { execFile, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { fileJournal } from "../../../dist/server/files.mjs";
import { databaseJournal, keyValueJournal } from "../../../dist/server/index.mjs";

const run = promisify(execFile);
const literal = (text) => `'${text.replaceAll("'", "''")}'`;

/** A store behind HTTP, as `startStore` serves it. */
function remoteStore(url) {
  const call = async (method, key, value) => {
    const response = await fetch(`${url}/${encodeURIComponent(key)}`, { method, body: value });
    if (!response.ok) throw new Error(`${method} ${key}: ${response.status}`);
    return response.json();
  };
  return {
    get: (key) => call("GET", key),
    set: (key, value) => call("PUT", key, value),
    create: (key, value) => call("POST", key, value),
    delete: (key) => call("DELETE", key),
    list: async (prefix) => (await (await fetch(url)).json()).filter((key) => key.startsWith(prefix)),
  };
}

/** Returns a query of SQLite by its own program. */
const sqlite = (file) => async (sql, values) => {
  let number = 0;
  const whole = sql.replaceAll("?", () => literal(values[number++]));
  const { stdout } = await run("sqlite3", ["-batch", "-cmd", ".timeout 10000", "-json", file, whole]);
  return stdout === "" ? [] : JSON.parse(stdout);
};

/** Returns a query of PostgreSQL by its own program, which runs until this process ends. */
function postgres(url) {
  const child = spawn("psql", ["-XqAt", "-d", url], { stdio: ["pipe", "pipe", "ignore"] });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  // Only a query keeps this process alive.
  child.unref();
  child.stdin.unref();
  const execute = async (sql) => {
    child.stdout.ref();
    child.stdin.write(`${sql};\n\\echo END :ERROR\n`);
    const rows = [];
    for (;;) {
      const { value, done } = await lines.next();
      if (done || value === "END true") throw new Error(`PostgreSQL refused ${sql}`);
      if (value === "END false") return rows.map(JSON.parse);
      rows.push(value);
    }
  };
  let last = Promise.resolve();
  return (sql, values) => {
    const whole = sql.replace(/\$(\d+)/g, (_, number) => literal(values[number - 1]));
    const rows = /^SELECT/.test(whole) ? `SELECT row_to_json(one) FROM (${whole}) AS one` : whole;
    const result = last.then(() => execute(rows)).finally(() => child.stdout.unref());
    last = result.catch(() => {});
    return result;
  };
}

/** Returns the journal of a kind at a place. */
export function journalOf(kind, place) {
  if (kind === "files") return fileJournal(place);
  if (kind === "key-value store") return keyValueJournal(remoteStore(place), "shop/");
  if (kind === "SQLite") return databaseJournal(sqlite(place));
  return databaseJournal(postgres(place), { table: "shop_journal", placeholder: (number) => `$${number}` });
}
