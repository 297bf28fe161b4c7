// Methods that a call does not have: none reaches the service.

import { get, post, request } from "../client.mjs";

const METHODS = [
  "PUT",
  "DELETE",
  "PATCH",
  "TRACE",
  "OPTIONS",
  "HEAD",
  "CONNECT",
  "get",
  "Get",
  "GETX",
  "BREW",
  "PROPFIND",
  "PURGE",
  "__proto__",
  "X".repeat(8000),
];
const OVERRIDES = ["X-HTTP-Method-Override", "X-Method-Override", "X-HTTP-Method"];

export const methods = [
  ...METHODS.map((method) => ({
    name: `${method.slice(0, 12)} /chat/config`,
    bytes: request(`${method} /connector/chat/config HTTP/1.1`),
    refused: true,
  })),
  {
    name: "PUT /events with a body",
    bytes: request("PUT /connector/events HTTP/1.1", { "Content-Type": "application/json" }, "{}"),
    refused: true,
  },
  { name: "POST /chat/config", bytes: post("/connector/chat/config"), refused: true },
  { name: "POST /chat/presence", bytes: post("/connector/chat/presence"), refused: true },
  { name: "GET /events", bytes: get("/connector/events"), refused: true },
  { name: "DELETE /chat/messages", bytes: request("DELETE /connector/chat/messages HTTP/1.1"), refused: true },
  {
    name: "CONNECT evil.example:443",
    bytes: request("CONNECT evil.example:443 HTTP/1.1", { Host: "evil.example:443" }),
    never: true,
  },
  { name: "OPTIONS *", bytes: request("OPTIONS * HTTP/1.1"), never: true },
  {
    name: "OPTIONS as a preflight from another site",
    bytes: request("OPTIONS /connector/events HTTP/1.1", {
      Origin: "https://evil.example",
      "Access-Control-Request-Method": "POST",
      "Access-Control-Request-Headers": "content-type, authorization",
    }),
    refused: true,
  },
  ...OVERRIDES.flatMap((name) => [
    { name: `GET with ${name}: POST`, bytes: get("/connector/events", { [name]: "POST" }), refused: true },
    { name: `POST with ${name}: DELETE`, bytes: post("/connector/events", "{}", { [name]: "DELETE" }) },
  ]),
  { name: "?_method=DELETE", bytes: post("/connector/events?_method=DELETE") },
];
