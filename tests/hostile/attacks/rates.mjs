// A visitor who floods the proxy: the recipe's rate limit stops it, and admits others.

import { exchange, get } from "../client.mjs";
import { proxies } from "../proxies.mjs";
import { HostileService } from "../service.mjs";

/** Servers without a rate limit of their own: docs/server.md says where to put one. */
const NONE = ["Caddy"];

export const rates = [
  {
    name: "150 requests at once from one address",
    run: async (name) => {
      if (NONE.includes(name)) return null;
      const service = await HostileService.start();
      const { port } = await proxies[name]({ origin: service.origin, rated: true });
      const answers = [];
      for (let n = 0; n < 15; n += 1) {
        answers.push(
          ...(await Promise.all(Array.from({ length: 10 }, () => exchange(port, get("/connector/chat/presence"))))).map(
            ({ answer }) => answer,
          ),
        );
      }
      const refused = answers.filter((answer) => answer?.status === 429);
      const waits = refused.map(({ headers }) => Number(headers.find(([one]) => one === "retry-after")?.[1]));
      const arrived = service.requests.length;
      service.stop();
      return [
        ...(answers.slice(0, 40).every((answer) => answer?.status === 200)
          ? []
          : ["a visitor who asks 40 times was refused"]),
        ...(refused.length > 0 && arrived < 100
          ? []
          : [`${refused.length} of 150 requests were refused, and ${arrived} arrived`]),
        ...(waits.every((wait) => wait >= 1 && wait <= 60) ? [] : ["Retry-After is missing"]),
      ];
    },
  },
];
