// Headers of a visitor's that are not the service's business, and ways to take the proxy's own away.

import { get, post } from "../client.mjs";

const HEADERS = {
  Cookie: "session=visitor-secret", Authorization: "Bearer visitor-secret", "Proxy-Authorization": "Basic dmlzaXRvcg==", "X-CSRF-Token": "visitor-secret",
  "X-Session": "visitor-secret", "X-Api-Key": "visitor-secret", Forwarded: "for=10.0.0.1;host=evil.example", "X-Forwarded-For": "10.0.0.1", "X-Forwarded-Host": "evil.example",
  "X-Forwarded-Proto": "http", "X-Forwarded-Port": "1", "X-Forwarded-Server": "evil.example", "X-Forwarded-Prefix": "/evil", "X-Real-IP": "10.0.0.1",
  "X-Client-IP": "10.0.0.1", "True-Client-IP": "10.0.0.1", "CF-Connecting-IP": "10.0.0.1", Via: "1.1 evil.example", Origin: "https://evil.example",
  Referer: "https://shop.example/account?secret", "User-Agent": "a visitor's browser", "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-CH-UA": '"Visitor"',
  DNT: "1", "Sec-GPC": "1", Range: "bytes=0-1", "If-Range": '"x"', "If-None-Match": '"x"', "If-Modified-Since": "Mon, 01 Jan 2024 00:00:00 GMT", "If-Match": '"x"',
  "Accept-Encoding": "gzip, br, zstd", Accept: "text/html", "Accept-Charset": "utf-7", "Cache-Control": "only-if-cached", Pragma: "no-cache", TE: "trailers",
  Trailer: "X-Evil", Date: "now", From: "visitor@shop.example", "Max-Forwards": "0", Prefer: "return=minimal", "Content-Language": "tlh",
  "X-HTTP-Method-Override": "DELETE", "X-Request-Id": "evil", "X-Amzn-Trace-Id": "evil", traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  "X-Original-URL": "/site/status", "X-Accel-Redirect": "/private/secret.txt", "X-Sendfile": "/etc/passwd", "CDN-Loop": "evil", "Front-End-Https": "on", "Early-Data": "1",
  "Keep-Alive": "timeout=5", "Proxy-Connection": "keep-alive", "Content-Location": "/site/status", "Transfer-Coding": "chunked", "Service-Worker": "script",
};

/** Values of the two headers that go on. They arrive as they are, or not at all. */
const VALUES = {
  "a placeholder of Caddy": "{env.CONNECTOR_TOKEN}{http.request.header.Cookie}",
  "a variable of nginx": "$http_cookie${http_authorization}",
  "8 KB": "k".repeat(7000),
  "high bytes": "\xff\xfe\xc3\x28",
  "control characters": "a\x01b\x1f",
  "an encoded line break": "a%0d%0aX-Evil: 1",
  "a comma and quotes": "a, b; \"c\" 'd' \\",
  "an empty value": "",
};

export const headersUp = [
  ...Object.entries(HEADERS).map(([name, value]) => ({ name: `GET with ${name}`, bytes: get("/connector/chat/presence", { [name]: value }), secret: "visitor-secret" })),
  ...Object.entries(HEADERS).map(([name, value]) => ({
    name: `POST with ${name}`,
    bytes: post("/connector/chat/messages", "{}", { [name]: value }),
    secret: "visitor-secret",
  })),
  { name: "all of them at once", bytes: post("/connector/events", "{}", HEADERS), secret: "visitor-secret" },
  { name: "_ in place of -", bytes: get("/connector/chat/presence", { Idempotency_Key: "evil", accept_language: "evil", X_Forwarded_For: "10.0.0.1" }) },
  ...["Authorization", "Idempotency-Key", "Content-Type, Content-Length", "Host", "close, Authorization", "Accept-Encoding, Accept", "Transfer-Encoding"].map((names) => ({
    name: `Connection: ${names}`,
    bytes: post("/connector/events", "{}", { Connection: names, Authorization: "Bearer visitor-secret" }),
    secret: "visitor-secret",
  })),
  { name: "two Authorizations", bytes: get("/connector/chat/presence", { Authorization: ["Bearer visitor-secret", "Basic x"] }), secret: "visitor-secret" },
  { name: "two Idempotency-Keys", bytes: post("/connector/events", "{}", { "Idempotency-Key": ["first-key-1", "second-key-2"] }) },
  { name: "no Idempotency-Key", bytes: post("/connector/events", "{}", { "Idempotency-Key": null }), status: 200 },
  ...Object.entries(VALUES).flatMap(([what, value]) => [
    { name: `Idempotency-Key of ${what}`, bytes: post("/connector/events", "{}", { "Idempotency-Key": value }) },
    { name: `Accept-Language of ${what}`, bytes: get("/connector/chat/presence", { "Accept-Language": value }) },
  ]),
  { name: "Idempotency-Key and Accept-Language go on", bytes: post("/connector/events", "{}", { "Accept-Language": "de-AT" }), status: 200, goesOn: { "idempotency-key": "attack-key-1", "accept-language": "de-AT" } },
];
