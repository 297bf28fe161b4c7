// Torture runs of `site-connector serve`, each on a fresh database: kills on SQLite, kills and crashes of the server on
// PostgreSQL, and a full disk, which holds the log as well. On both databases, the log's pipe is closed. In each,
// background tasks panic.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Postgres } from "../postgres.mjs";
import { createUnlimitedSite } from "./admin.mjs";
import { createDisk } from "./disk.mjs";
import { createNodes } from "./nodes.mjs";
import { torture } from "./run.mjs";
import { readDatabase } from "./stored.mjs";

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Maximum time that something stays broken. */
const MAX_OUTAGE_MS = 400;

/** Makes the background tasks of a node panic, several times or once, and waits until it is ready, without a restart. */
async function panicTasks(node, random) {
  const { pid } = node;
  for (let times = 1 + Math.floor(random() * 3); times > 0; times -= 1) {
    node.panicTasks();
    await pause(random() * MAX_OUTAGE_MS);
  }
  await node.ready();
  if (node.pid !== pid) throw new Error("the service was restarted");
}

/** Ends the reader of a node's log, and waits until it is ready, without a restart. */
async function closeLogOf(node, random) {
  const { pid } = node;
  node.closeLog();
  await pause(random() * MAX_OUTAGE_MS);
  await node.ready();
  if (node.pid !== pid) throw new Error("the service was restarted");
}

/** Lines for each request, so that a log that cannot be written meets every one. */
const LOG_REQUESTS = ["--log", "trace"];

/**
 * Kills a service on SQLite. `options` are those of `torture`, with the paths `binary` of site-connector and `tool` of the
 * load generator.
 */
export async function onSqlite({ binary, tool, ...options }) {
  const folder = mkdtempSync(join(tmpdir(), "chat-widget-torture-"));
  const database = join(folder, "service.db");
  const nodes = await createNodes({ binary, database, folder, args: LOG_REQUESTS });
  const [node] = nodes;
  async function kill(random) {
    await node.kill();
    await pause(random() * random() * MAX_OUTAGE_MS);
    await node.start();
  }
  const closeLog = (random) => closeLogOf(node, random);
  const killTasks = (random) => panicTasks(node, random);
  const accidents = [kill, kill, kill, closeLog, killTasks, killTasks];
  return run({ folder, nodes, accidents, tool, database, ...options });
}

/** Kills two nodes on PostgreSQL, together and one at a time, and the server itself, and closes their logs. */
export async function onPostgres({ binary, tool, ...options }) {
  const server = await Postgres.create();
  // What a crash of processes must not lose is in the system's cache by then; a power failure is not simulated.
  const settings = { fsync: "off", max_connections: 100 };
  server.start(settings);
  const folder = mkdtempSync(join(tmpdir(), "chat-widget-torture-"));
  const database = server.url();
  const nodes = await createNodes({ binary, database, folder, count: 2, args: LOG_REQUESTS });
  const restart = async (node, random) => {
    await pause(random() * MAX_OUTAGE_MS);
    await node.start();
  };
  const accidents = [
    async function killOneNode(random) {
      const node = nodes[Math.floor(random() * nodes.length)];
      await node.kill();
      await restart(node, random);
    },
    async function killBothNodes(random) {
      await Promise.all(nodes.map((node) => node.kill()));
      await Promise.all(nodes.map((node) => restart(node, random)));
    },
    async function killTasks(random) {
      await panicTasks(nodes[Math.floor(random() * nodes.length)], random);
    },
    async function closeLog(random) {
      await closeLogOf(nodes[Math.floor(random() * nodes.length)], random);
    },
    async function crashServer(random) {
      server.stop("immediate");
      await pause(random() * MAX_OUTAGE_MS);
      server.start(settings);
      await Promise.all(nodes.map((node) => node.ready()));
    },
  ];
  try {
    return await run({ folder, nodes, accidents, tool, database, ...options });
  } finally {
    server.remove();
  }
}

/** Fills the disk of a service on SQLite, and frees it again; every third time, the service is killed in between. */
export async function onFullDisk({ binary, tool, mount, ...options }) {
  const disk = createDisk(mkdtempSync(join(tmpdir(), "chat-widget-torture-disk-")), { mount });
  const database = join(disk.folder, "service.db");
  const nodes = await createNodes({
    binary,
    database,
    folder: disk.folder,
    wrap: disk.wrap,
    args: LOG_REQUESTS,
    log: join(disk.folder, "log"),
  });
  const [node] = nodes;
  const full = async (random) => {
    disk.fill([node.pid]);
    await pause(100 + random() * MAX_OUTAGE_MS);
  };
  async function fullDisk(random) {
    await full(random);
    disk.free([node.pid]);
    await node.ready();
  }
  async function killOnFullDisk(random) {
    await full(random);
    await node.kill();
    disk.free([]);
    await node.start();
  }
  try {
    const killTasks = (random) => panicTasks(node, random);
    async function killTasksOnFullDisk(random) {
      await full(random);
      node.panicTasks();
      await pause(random() * MAX_OUTAGE_MS);
      disk.free([node.pid]);
      await node.ready();
    }
    const accidents = [fullDisk, fullDisk, killOnFullDisk, killTasks, killTasksOnFullDisk];
    return { disk: disk.kind, ...(await run({ folder: null, nodes, accidents, tool, database, ...options })) };
  } finally {
    disk.remove();
  }
}

/** Starts the nodes, runs the load and the accidents, and removes the data. */
async function run({ folder, nodes, tool, database, ...options }) {
  try {
    // One after the other: the first one creates the key and the tables.
    for (const node of nodes) await node.start();
    const { token } = createUnlimitedSite(nodes[0], { tool, database });
    const read = () => readDatabase(tool, database);
    return await torture({ urls: nodes.map(({ url }) => url), token, read, ...options });
  } finally {
    await Promise.all(nodes.map((node) => node.kill()));
    if (folder) rmSync(folder, { recursive: true, force: true });
  }
}
