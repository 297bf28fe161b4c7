// Runs a recipe for Node in its own process: node node-server.mjs KIND RECIPE, with further settings in the environment.
// Prints its port.

import { once } from "node:events";
import { createServer } from "node:http";

const [kind, recipe] = process.argv.slice(2);
const { CONNECTOR_ORIGIN: origin, CONNECTOR_TOKEN: token, TIMEOUT_MS, PER_MINUTE } = process.env;
const { chatConnector } = await import(recipe);
const options = {
  origin,
  token,
  ...(TIMEOUT_MS && { timeoutMs: Number(TIMEOUT_MS) }),
  ...(PER_MINUTE && { perMinute: Number(PER_MINUTE) }),
};

/** Returns an application of this version of Express with the recipe. */
async function application(name) {
  const { default: express } = await import(name);
  const app = express();
  app.use("/connector", chatConnector({ ...options, prefix: "" }));
  return app;
}

const server = createServer(kind === "http" ? chatConnector(options) : await application(kind));
await once(server.listen(0, "127.0.0.1"), "listening");
console.log(server.address().port);
