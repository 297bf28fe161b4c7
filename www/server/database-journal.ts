// A journal in a table of the site's own database, by any driver of SQL.

import { ConnectorError } from "./connector-error.js";
import type { JournalStore } from "./journal-store.js";

/** Executes a statement, and returns its rows as objects by the names of their columns. */
export type Query = (sql: string, values: string[]) => Promise<Iterable<Record<string, unknown>>>;

/** The settings of a journal in a database. */
export interface DatabaseJournalOptions {
  /** The name of the table, which is created if it is missing; `site_connector_journal` by default. */
  table?: string;
  /** Returns the placeholder of the value with a number, from 1: `?` by default, `$1` for PostgreSQL. */
  placeholder?: (number: number) => string;
}

/** Returns a journal in a table of SQLite, PostgreSQL, MySQL or MariaDB. Each statement is a transaction of its own. */
export function databaseJournal(query: Query, options: DatabaseJournalOptions = {}): JournalStore {
  const { table = "site_connector_journal", placeholder = () => "?" } = options;
  if (!/^[A-Za-z_][A-Za-z0-9_.]{0,100}$/.test(table))
    throw new ConnectorError("setup", "invalid table: expected letters, digits and underscores");
  const run = async (sql: string, ...values: string[]) => {
    let number = 0;
    return [
      ...(await query(
        sql.replaceAll("?", () => placeholder((number += 1))),
        values,
      )),
    ];
  };
  const exists = async (key: string) =>
    (await run(`SELECT 1 AS found FROM ${table} WHERE entry_key = ?`, key)).length > 0;
  const insert = (key: string, value: string) =>
    run(`INSERT INTO ${table} (entry_key, entry_value) VALUES (?, ?)`, key, value);

  let created: Promise<unknown> | undefined;
  /** Creates the table, once. */
  const prepare = () => {
    const columns = "entry_key VARCHAR(191) NOT NULL PRIMARY KEY, entry_value TEXT NOT NULL";
    created ??= run(`CREATE TABLE IF NOT EXISTS ${table} (${columns})`)
      // Two processes that create it at the same time disturb each other in PostgreSQL. A user may be allowed no more.
      .catch((error: unknown) => exists("").catch(() => Promise.reject(error)))
      .catch((error: unknown) => {
        created = undefined;
        throw error;
      });
    return created;
  };

  const store: JournalStore = {
    async get(key) {
      await prepare();
      const [row] = await run(`SELECT entry_value FROM ${table} WHERE entry_key = ?`, key);
      return row === undefined ? undefined : String(row["entry_value"]);
    },
    async set(key, value) {
      await prepare();
      // Without the dialects of an upsert: one runner writes each key.
      if (!(await exists(key)) && (await store.create(key, value))) return;
      await run(`UPDATE ${table} SET entry_value = ? WHERE entry_key = ?`, value, key);
    },
    async create(key, value) {
      await prepare();
      try {
        await insert(key, value);
        return true;
      } catch (error) {
        // The primary key refuses a second row.
        if (await exists(key)) return false;
        throw error;
      }
    },
    async delete(key) {
      await prepare();
      await run(`DELETE FROM ${table} WHERE entry_key = ?`, key);
    },
    async list(prefix) {
      await prepare();
      const rows = await run(`SELECT entry_key FROM ${table} WHERE entry_key LIKE ?`, `${prefix}%`);
      return rows.map((row) => String(row["entry_key"]));
    },
  };
  return store;
}
