// Paths that are none of the five, or look like one: nothing but the five constant targets may reach the service.

import { get, post, request } from "../client.mjs";

/** Targets of a GET. A server may refuse each or understand it as one of the five. */
const TARGETS = [
  "//", "///", "////", "/", "//connector/chat/config", "//evil.example/x", "//evil.example/connector/chat/config", "/connector", "/connector/",
  "/connector//", "/connector///", "/connector//chat/config", "/connector/chat//config", "/connector/chat/config/", "/connector/chat/config//",
  "/connector/chat/config/x", "/connector/chat", "/connector/events", "/connector/site/status", "/connector/seo/overlays",
  "http://evil.example/connector/chat/config", "http://evil.example", "http://", "http:///connector/chat/config", "https://evil.example:443/connector/site/status",
  "http://user:secret@evil.example/connector/chat/config", "ftp://evil.example/connector/chat/config", "*", "evil.example:443", ":", "?", "?x=/connector/chat/config",
  "#", "/#/connector/chat/config", "/connector/chat/config#/../../site/status", "connector/chat/config", "\\connector\\chat\\config", "/connector\\chat\\config",
  "/connector/chat\\..\\site/status", "/connector/..\\site\\status", "/\\evil.example/connector/chat/config",
  "/CONNECTOR/CHAT/CONFIG", "/Connector/chat/config", "/connector/Chat/Config", "/connector/SITE/status",
  "/connector/chat/config;", "/connector/chat/config;x=1", "/connector;/chat/config", "/connector/chat;x/config",
  "/connector/site/status;%2f..%2f..%2fchat%2fconfig", "/connector/site/status;/../../chat/config", "/admin/%2e%2e/CONNECTOR/chat/config",
  "/admin/%2e%2e/connector/chat/config", "/admin/../connector/chat/config", "/connector/../connector/chat/config",
  "/connector/./chat/config", "/connector/chat/./config", "/connector/chat/../site/status", "/connector/chat/..%2fsite/status",
  "/connector/chat/%2e%2e/site/status", "/connector/chat/%2e%2e%2fsite%2fstatus", "/connector/chat%2f..%2f..%2fsite%2fstatus",
  "/connector/%2e%2e/%2e%2e/site/status", "/connector/chat/config/../../site/status", "/connector/chat/config/%2e%2e/%2e%2e/site/status",
  "/connector/../../../../etc/passwd", "/connector/%252e%252e/site/status", "/connector/chat%252fconfig", "/connector/chat%2fconfig", "/connector%2fchat%2fconfig",
  "/%63onnector/chat/config", "/connector/ch%61t/config", "/connector/chat/config%2f", "/connector/chat/config%20", "/connector/chat/config%00",
  "/connector/chat/config%00/../../site/status", "/connector/site/status%00/connector/chat/config", "/connector/chat%5cconfig", "/connector/chat/..%5csite/status",
  "/connector/chat/%c0%ae%c0%ae/site/status", "/connector/chat/..%c0%afsite/status", "/connector/chat/%e0%80%ae%e0%80%ae/site/status",
  "/connector/chat/%uff0e%uff0e/site/status", "/connector/chat/config%", "/connector/chat/config%2", "/connector/chat/config%zz",
  "/connector/chat/config%3fx=1", "/connector/chat/config%23", "/connector/chat/config%0d%0aX-Evil:%201", "/connector/chat/config%0a", "/connector/chat/config%09",
  "/connector/chat/config\t", "/connector/chat/\tconfig", "/connector/chat/config\x01", "/connector/chat/config\x7f", "/connector/chat/config\x00", "/connector/chat/config\xff",
  "/connector/chat/config\xc0\xae", "/connector/chat/\xe2\x80\xa5/site/status", "/connector/chat/config /connector/site/status",
  "/connector/site/jobs/next", "/connector/api/connector/v1/chat/config", "/api/connector/v1/chat/config", "/api/connector/v1/site/status",
  "/connector/chat/config@evil.example", "/connector@evil.example/chat/config", "/connector/chat/config:80", "/connector/.evil.example/", "/connector/{env.CONNECTOR_TOKEN}",
  "/connector/__proto__", "/connector/constructor", "/connector/chat/toString", "/connector/hasOwnProperty/x", "/index.php", "/index.php/connector/chat/config",
  "/connector/connector.php", "/connector/index.php/chat/config", `/connector/${"a/".repeat(3000)}`, `/connector/${"../".repeat(3000)}site/status`, `/${"x".repeat(60_000)}`,
];

/** Queries, which go on as they are or not at all. */
const QUERIES = {
  "?x=%0d%0aX-Evil:%201": "?x=%0d%0aX-Evil:%201%0d%0a%0d%0aGET%20/site/status",
  "? twice": "?x=1?y=2?z=3",
  "a query of high bytes": "?x=\xff\xfe\xc3\x28\xe2\x82",
  "a query of UTF-8": `?x=${Buffer.from("ü你").toString("latin1")}`,
  "a query of 60 KB": `?x=${"x".repeat(60_000)}`,
  "a query of 8,000 parameters": `?${"a&".repeat(8000)}`,
  "a query with #": "?x=#/../../site/status",
  "a query with dots": "?/../../../site/status",
  "a query with a tab": "?x=\t1",
  "a query with a null byte": "?x=\x001",
  "a query with a placeholder of Caddy": "?x={env.CONNECTOR_TOKEN}{$CONNECTOR_TOKEN}{http.request.header.Authorization}",
  "a query with a variable of nginx": "?x=$http_authorization${uri}$chat_call",
  "a query with a backslash and quotes": "?x=\\\"'`|^<>[]",
  "an empty query": "?",
};

/** Verbatim of a report, for POST. */
const POSTED = [
  "/connector/site/jobs/next;%2f..%2f..%2f..%2fevents", "/connector/site/jobs/next", "/connector/content/sync", "/connector/auth/activate",
  "/connector/site/jobs/j1/complete;/../../../../events", "/connector/events/../content/sync", "/connector/events%2f..%2fcontent%2fsync", "/connector//events",
  "/connector/EVENTS", "/connector/events/", "/connector/chat/config", "/connector/chat/presence", "//", "http://evil.example/connector/events",
];

/** A server may wait for the rest of what is no request. */
const WAITS = { mayWait: true, patience: 300 };

export const paths = [
  ...TARGETS.map((target) => ({ name: `GET ${target.length > 60 ? `${target.slice(0, 30)}… (${target.length} bytes)` : target}`, bytes: get(target) })),
  ...POSTED.map((target) => ({ name: `POST ${target}`, bytes: post(target) })),
  ...Object.entries(QUERIES).map(([name, query]) => ({ name, bytes: get(`/connector/chat/presence${query}`) })),
  { name: "no Host", bytes: get("/connector/chat/presence", { Host: null }) },
  { name: "an empty Host", bytes: get("/connector/chat/presence", { Host: "" }) },
  { name: "two Hosts", bytes: get("/connector/chat/presence", { Host: ["shop.example", "evil.example"] }) },
  { name: "a Host of another", bytes: get("/connector/chat/presence", { Host: "evil.example" }) },
  { name: "a Host with a path", bytes: get("/connector/chat/presence", { Host: "evil.example/../site/status?" }) },
  { name: "a Host with spaces", bytes: get("/connector/chat/presence", { Host: "a b\tc" }) },
  { name: "a Host with a token in it", bytes: get("/connector/chat/presence", { Host: "a:b@evil.example:99999" }) },
  ...["X-Original-URL", "X-Rewrite-URL", "X-Forwarded-Prefix", "X-Forwarded-Path", "X-Forwarded-Host", "Base-Url", "Destination"].map((name) => ({
    name: `${name}: /site/status`,
    bytes: get("/connector/chat/presence", { [name]: "/connector/site/status" }),
  })),
  { name: "Proxy: http://evil.example (httpoxy)", bytes: ({ elsewhere }) => get("/connector/chat/presence", { Proxy: elsewhere.origin }) },
  { name: "HTTP/0.9", bytes: Buffer.from("GET /connector/chat/presence\r\n\r\n"), old: true, ...WAITS },
  { name: "HTTP/1.0", bytes: request("GET /connector/chat/presence HTTP/1.0") },
  { name: "HTTP/9.9", bytes: request("GET /connector/chat/presence HTTP/9.9") },
  { name: "an HTTP/2 preface", bytes: Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"), ...WAITS, old: true },
  { name: "a TLS hello", bytes: Buffer.from("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", "latin1"), ...WAITS, old: true },
  { name: "no request line", bytes: Buffer.from("\r\n\r\n\r\n\r\n"), ...WAITS },
  { name: "a request line of one word", bytes: Buffer.from("GET\r\n\r\n"), ...WAITS, old: true },
];
