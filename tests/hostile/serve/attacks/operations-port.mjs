// The port of the metrics: what it shows, and to which requests.

import { exchange, get, request } from "../../client.mjs";
import { judged } from "../judge.mjs";

const TEXT = {
  headers: { "content-type": (value) => /^(text\/plain|application\/(json|openmetrics-text))/.test(value) },
  isPlain: true,
};

export const operationsPort = [
  {
    name: "the public port has no metrics",
    run: async (program) => {
      const { status } = await program.call("GET", "/metrics");
      return status === 404 ? [] : [`/metrics was answered with ${status}`];
    },
  },
  {
    name: "metrics and health show no ids, words or secrets, whatever was asked for",
    async run(program) {
      await program.call("GET", "/words-of-a-visitor?token=secret-of-a-visitor", undefined, {
        headers: { Host: "evil.example" },
      });
      await program.call("BREW", `/connector/${program.site}/words-of-a-visitor`);
      await program.write("words-of-a-visitor");
      const problems = [];
      for (const path of [
        "/metrics",
        "/livez",
        "/readyz",
        "/api/admin/v1/sites",
        "/connector/x/chat/config",
        "/../metrics",
        "/metrics?x=secret-of-a-visitor",
      ]) {
        for (const method of ["GET", "POST", "OPTIONS", "TRACE"]) {
          const bytes = request(`${method} ${path} HTTP/1.1`, { Host: "evil.example", Origin: "https://evil.example" });
          const result = await exchange(program.metricsPort, bytes);
          const text = String(result.raw);
          const shown = [program.site, "words-of-a-visitor", "secret-of-a-visitor", "BREW"].filter((word) =>
            text.includes(word),
          );
          problems.push(...judged(TEXT, result, program.secrets).map((problem) => `${method} ${path}: ${problem}`));
          if (shown.length > 0) problems.push(`${method} ${path} shows ${shown}`);
          if (path.startsWith("/api") && result.answer?.status !== 404)
            problems.push(`${path} is served on the port of the metrics`);
        }
      }
      const { answer } = await exchange(program.metricsPort, get("/metrics"));
      return String(answer?.body).includes("_bucket") ? problems : [...problems, "there are no metrics"];
    },
  },
];
