// Large and odd heads, ranges, and paths out of the folders that are served.

import { flood, get, request } from "../../client.mjs";
import { ADMIN, API } from "../program.mjs";

const MIB = 1024 * 1024;
const READ = "/chat-widget/chat-widget.js";

/** The kinds of paths, each with what its requests need. */
const places = ({ site, token, cookie, host }) => ({
  "/connector": [`/connector/${site}/chat/config`, { Host: host }],
  "connector API": [`${API}/chat/config`, { Host: host, Authorization: `Bearer ${token}` }],
  "admin API": [`${ADMIN}/sites`, { Host: host, Cookie: cookie }],
  console: ["/console/", { Host: host }],
  health: ["/livez", { Host: host }],
  ready: ["/readyz", { Host: host }],
  widget: [READ, { Host: host }],
  nothing: ["/none", { Host: host }],
});

/** The headers of public files, which pages of any origin load. */
const PUBLIC = {
  "access-control-allow-origin": (value) => value === "*",
  "cross-origin-resource-policy": (value) => value === "cross-origin" || value === "same-origin",
  "accept-ranges": (value) => value === "bytes",
  "content-encoding": (value) => /^(br|gzip)$/.test(value),
  "content-range": (value) => /^bytes (\*|\d+-\d+)\/\d+$/.test(value),
  "content-type": (value) => /^[a-z]+\/[a-z+]+(; charset=utf-8)?$/.test(value),
  "last-modified": () => true,
  etag: (value) => /^(W\/)?"[\w.-]+"$/.test(value),
  vary: (value) => value.toLowerCase() === "accept-encoding",
  "cache-control": (value) => /^(no-cache|no-store|public, max-age=31536000, immutable)$/.test(value),
  // Redirects stay on the site, and lead to the console only.
  location: (value) => value === "/console/",
};
const file = { headers: PUBLIC, isPlain: true, status: [200, 206, 301, 304, 307, 400, 403, 404, 405, 416, 431, 414] };

const heads = (path, headers) => ({
  "a query of 1 MB": { bytes: get(`${path}?q=${"x".repeat(MIB)}`, headers), refused: true },
  "a path of 1 MB": { bytes: get(`${path}/${"x".repeat(MIB)}`, headers), refused: true },
  "a header of 10 MB": { bytes: get(path, { ...headers, "X-Large": "x".repeat(10 * MIB) }), refused: true },
  "endless headers": {
    bytes: Buffer.from(`GET ${path} HTTP/1.1\r\n`),
    then: (socket) => flood(socket, Buffer.from(`X: ${"x".repeat(1000)}\r\n`.repeat(60)), 64 * MIB),
    memory: true,
    refused: true,
  },
  "100 headers of one name": { bytes: get(path, { ...headers, "X-Same": Array(90).fill("1") }) },
  "HTTP/1.0 without a Host": { bytes: request(`GET ${path} HTTP/1.0`, { ...headers, Host: null }) },
  "HTTP/1.0 with keep-alive, and a second request": {
    bytes: Buffer.concat([request(`GET ${path} HTTP/1.0`, headers), get(path, headers)]),
  },
  "an absolute target of another host": { bytes: get(`http://evil.example${path}`, headers) },
  "a target with credentials": { bytes: get(`http://secret-of-a-visitor:x@${headers.Host}${path}`, headers) },
  "Upgrade: websocket": {
    bytes: get(path, { ...headers, Connection: "Upgrade", Upgrade: "websocket", "Sec-WebSocket-Key": "x" }),
  },
  "Upgrade: h2c": {
    bytes: get(path, {
      ...headers,
      Connection: "Upgrade, HTTP2-Settings",
      Upgrade: "h2c",
      "HTTP2-Settings": "AAMAAABkAAQ",
    }),
  },
  "Range: 1,000 ranges": { bytes: get(path, { ...headers, Range: `bytes=${Array(1000).fill("0-").join()}` }) },
  "Range: overlapping": { bytes: get(path, { ...headers, Range: "bytes=0-,1-,2-,3-,-5" }) },
  "Range: beyond 64 bits": { bytes: get(path, { ...headers, Range: "bytes=99999999999999999999-" }) },
  "Range: reversed": { bytes: get(path, { ...headers, Range: "bytes=9-1,-0" }) },
  "If-Modified-Since: nonsense": {
    bytes: get(path, { ...headers, "If-Modified-Since": "\xff", "If-None-Match": '"' }),
  },
  "Accept-Encoding: everything": {
    bytes: get(path, { ...headers, "Accept-Encoding": `${"gzip;q=0.1,".repeat(500)}br;q=x` }),
  },
});

/** Paths that would leave the folder of the widget, or show what it hides. */
const TRAVERSALS = [
  "../Cargo.toml",
  "..%2fCargo.toml",
  "%2e%2e/Cargo.toml",
  "%2e%2e%2fCargo.toml",
  "..%5cCargo.toml",
  "..\\Cargo.toml",
  ".%2e/Cargo.toml",
  "....//Cargo.toml",
  "%252e%252e%252fCargo.toml",
  "..%c0%afCargo.toml",
  "..;/Cargo.toml",
  "/etc/passwd",
  "%2fetc%2fpasswd",
  "//etc/passwd",
  ".built",
  "%2ebuilt",
  ".git/config",
  "chat-widget.js/../../Cargo.toml",
  "chat-widget.js%00.txt",
  "chat-widget.js/",
  "",
  "locales",
  "locales/",
  "types/%2e%2e/%2e%2e/package.json",
  "CON",
  "x".repeat(5000),
];
const isOutside = ({ answer }) =>
  /\[workspace\]|root:x:0|"devDependencies"|\[core\]/.test(String(answer?.body))
    ? ["a file outside the folder was served"]
    : [];

/** Returns the attacks on a program. */
export const headsOf = (program) => [
  ...Object.entries(places(program)).flatMap(([place, [path, headers]]) =>
    Object.entries(heads(path, headers)).map(([name, attack]) => {
      const isPublic = ["widget", "console", "health", "ready"].includes(place);
      return { ...(isPublic ? file : { headers: { vary: () => true } }), ...attack, name: `${place}: ${name}` };
    }),
  ),
  ...["/chat-widget/", "/console/"].flatMap((folder) =>
    TRAVERSALS.map((path) => ({
      ...file,
      name: `${folder}${path.slice(0, 40)}`,
      bytes: get(`${folder}${path}`, { Host: program.host }),
      check: isOutside,
    })),
  ),
];
