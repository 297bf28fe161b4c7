// Runs the recipe for Node, or the package's proxy, in its own process: node node-server.mjs KIND FILE, with further
// settings in the environment. Prints its port.

import { once } from "node:events";
import { createServer } from "node:http";

const [kind, file] = process.argv.slice(2);
const { CONNECTOR_ORIGIN: origin, CONNECTOR_TOKEN: token, TIMEOUT_MS, PER_MINUTE } = process.env;
const { chatConnector, connectorProxy, toNodeHandler } = await import(file);
const timeout = TIMEOUT_MS && { timeoutMs: Number(TIMEOUT_MS) };
const perMinute = PER_MINUTE && Number(PER_MINUTE);

/** Returns the handler. The recipe, unlike the package, needs to know that a router has removed the prefix. */
function handler(prefix) {
  if (!connectorProxy) return chatConnector({ origin, token, ...timeout, ...(perMinute && { perMinute }), ...prefix });
  const clientRate = perMinute && { clientRate: { perMinute, burst: 60 } };
  return toNodeHandler(connectorProxy({ origin, token, ...timeout, ...clientRate }));
}

/** Returns an application of this version of Express with the recipe. */
async function application(name) {
  const { default: express } = await import(name);
  const app = express();
  app.use("/connector", handler({ prefix: "" }));
  return app;
}

const server = createServer(kind === "http" ? handler() : await application(kind));
await once(server.listen(0, "127.0.0.1"), "listening");
console.log(server.address().port);
