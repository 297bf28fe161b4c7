// Runs the jobs of a site in the Git folder FOLDER.

import { fileJournal, gitFolder } from "../../../dist/server/files.mjs";
import { runJobs, ServerConnectorClient } from "../../../dist/server/index.mjs";

const { FOLDER, PLACE, ORIGIN, TOKEN } = process.env;
const client = new ServerConnectorClient({ origin: ORIGIN, token: TOKEN });
await runJobs(gitFolder({ folder: FOLDER }), { client, journal: fileJournal(PLACE), lockMs: 1000, log: () => {} });
