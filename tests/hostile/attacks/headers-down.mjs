// Response headers of the service: only the listed ones may reach the visitor.

import { SECRET_FILE } from "../proxies.mjs";
import { answer } from "../service.mjs";

const HEADERS = {
  "X-Accel-Redirect": "/private/secret.txt",
  "X-Accel-Expires": "3600",
  "X-Accel-Buffering": "no",
  "X-Accel-Limit-Rate": "1",
  "X-Accel-Charset": "utf-7",
  "X-Sendfile": "/etc/passwd",
  "X-LIGHTTPD-send-file": "/etc/passwd",
  "X-Reproxy-URL": "http://127.0.0.1/",
  "Set-Cookie": "session=evil; Path=/",
  "Set-Cookie2": "session=evil",
  "Cache-Control": "public, max-age=31536000",
  Expires: "Thu, 01 Jan 2099 00:00:00 GMT",
  Pragma: "cache",
  ETag: '"x"',
  "Last-Modified": "Mon, 01 Jan 2024 00:00:00 GMT",
  Age: "0",
  "Surrogate-Control": "max-age=3600",
  "CDN-Cache-Control": "max-age=3600",
  Vary: "*",
  Refresh: "0; url=https://evil.example/",
  "Clear-Site-Data": '"*"',
  "Strict-Transport-Security": "max-age=31536000; includeSubDomains",
  "Public-Key-Pins": "max-age=1",
  "Expect-CT": "max-age=1",
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Allow-Credentials": "true",
  "Access-Control-Allow-Methods": "*",
  "Access-Control-Allow-Headers": "*",
  "Access-Control-Expose-Headers": "*",
  "Access-Control-Max-Age": "600",
  "Access-Control-Allow-Private-Network": "true",
  Location: "https://evil.example/",
  "Content-Location": "https://evil.example/",
  "Content-Security-Policy": "default-src *",
  "Content-Security-Policy-Report-Only": "default-src 'none'; report-uri https://evil.example/",
  Link: "<https://evil.example/x.css>; rel=preload; as=style",
  "Alt-Svc": 'h3="evil.example:443"; ma=86400',
  "Alt-Used": "evil.example",
  NEL: '{"report_to":"x","max_age":1}',
  "Report-To": '{"group":"x","max_age":1,"endpoints":[{"url":"https://evil.example/"}]}',
  "Reporting-Endpoints": 'x="https://evil.example/"',
  "Service-Worker-Allowed": "/",
  "WWW-Authenticate": 'Basic realm="shop"',
  "Proxy-Authenticate": 'Basic realm="shop"',
  "Authentication-Info": "x",
  Authorization: "Bearer x",
  "Content-Disposition": 'attachment; filename="evil.exe"',
  SourceMap: "https://evil.example/x.map",
  "X-SourceMap": "https://evil.example/x.map",
  "Accept-CH": "Sec-CH-UA-Full-Version",
  "Critical-CH": "Sec-CH-UA-Full-Version",
  "Server-Timing": "x;dur=1",
  "Timing-Allow-Origin": "*",
  Trailer: "Set-Cookie",
  "X-Frame-Options": "ALLOWALL",
  "X-XSS-Protection": "0",
  "X-Content-Type-Options": "sniff",
  "Referrer-Policy": "unsafe-url",
  "Permissions-Policy": "camera=*",
  "Feature-Policy": "camera *",
  "Cross-Origin-Opener-Policy": "unsafe-none",
  "Cross-Origin-Resource-Policy": "cross-origin",
  "Cross-Origin-Embedder-Policy": "unsafe-none",
  "Origin-Agent-Cluster": "?0",
  "Origin-Trial": "x",
  "Speculation-Rules": '"https://evil.example/"',
  "No-Vary-Search": "params",
  "Supports-Loading-Mode": "credentialed-prerender",
  "Set-Login": "logged-out",
  "Observe-Browsing-Topics": "?1",
  "Attribution-Reporting-Register-Source": "{}",
  "Content-Language": "tlh",
  "Content-Range": "bytes 0-1/2",
  "Accept-Ranges": "bytes",
  Upgrade: "h2c",
  "Keep-Alive": "timeout=99999",
  "Proxy-Connection": "keep-alive",
  "X-Powered-By": "evil",
  Via: "1.1 evil",
  "X-Robots-Tag": "noindex",
  "X-DNS-Prefetch-Control": "on",
  "X-UA-Compatible": "IE=7",
  "X-Forwarded-For": "10.0.0.1",
  "X-Anything": "evil",
  Status: "302 Found",
  Server: "evil/1.0",
  "Idempotency-Key": "x",
  "X-RateLimit-Evil": "1",
};

/** Headers that are returned, with their values. */
const LISTED = {
  "Retry-After": "7",
  "X-Request-Id": "req_listed",
  "X-Service-API-Version": "1",
  "X-RateLimit-Limit": "60",
  "X-RateLimit-Remaining": "0",
  "X-RateLimit-Reset": "1700000000",
};

const down =
  (headers, status = "200 OK") =>
  () =>
    answer('{"ok":true}', {
      status,
      headers: Object.entries(headers)
        .flatMap(([name, value]) => [value].flat().map((one) => `${name}: ${one}\r\n`))
        .join(""),
    });

export const headersDown = [
  ...Object.entries(HEADERS).map(([name, value]) => ({ name, answer: down({ [name]: value }), secret: SECRET_FILE })),
  { name: "all headers at once", answer: down(HEADERS), secret: SECRET_FILE },
  {
    name: "X-Accel-Redirect to another site's location",
    answer: (_request, _socket, { elsewhere }) => answer("{}", { headers: `X-Accel-Redirect: ${elsewhere}/x\r\n` }),
    secret: SECRET_FILE,
  },
  {
    name: "headers in upper and lower case",
    answer: down({ "sEt-CoOkIe": "session=evil", "x-ACCEL-redirect": "/private/secret.txt", REFRESH: "0; url=/" }),
    secret: SECRET_FILE,
  },
  {
    name: "the listed headers are returned",
    answer: down(LISTED, "429 Too Many Requests"),
    status: 429,
    comesBack: LISTED,
  },
  { name: "a duplicate listed header", answer: down({ "X-Request-Id": ["one", "two"], "Retry-After": ["1", "2"] }) },
  {
    name: "listed headers with hostile values",
    answer: down({
      "X-Request-Id": '<script>\xff\x01"',
      "Retry-After": "x".repeat(4000),
      "X-Service-API-Version": 'a, b; c="d',
    }),
  },
  { name: "a header with a bare LF", answer: down({ "X-Request-Id": "a\nSet-Cookie: session=evil" }) },
  { name: "a header with a bare CR", answer: down({ "X-Request-Id": "a\rSet-Cookie: session=evil" }) },
  { name: "a header with a null byte", answer: down({ "X-Request-Id": "a\0Set-Cookie: session=evil" }) },
  { name: "a folded header", answer: down({ "X-Request-Id": "a\r\n Set-Cookie: session=evil" }) },
  { name: "a header without a name", answer: down({ "": "evil" }) },
  { name: "a header with a space in its name", answer: down({ "Set-Cookie ": "session=evil" }) },
  {
    name: "a header without a colon",
    answer: () => `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nevil\r\nContent-Length: 2\r\n\r\n{}`,
  },
  { name: "a header of 1 MB", answer: down({ "X-Large": "x".repeat(1_000_000) }), memory: true },
  { name: "X-Request-Id of 1 MB", answer: down({ "X-Request-Id": "x".repeat(1_000_000) }), memory: true },
  {
    name: "10,000 headers",
    answer: down(Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`X-${n}`, "evil"]))),
    memory: true,
  },
  { name: "10,000 cookies", answer: down({ "Set-Cookie": Array(10_000).fill("session=evil") }), memory: true },
  {
    name: "endless headers",
    answer: async (request, socket, { flooding }) => (
      socket.write("HTTP/1.1 200 OK\r\n"), flooding(socket, Buffer.from("X-Endless: evil\r\n".repeat(4000)))
    ),
    memory: true,
    passes: false,
  },
  {
    name: "trailers with cookies and another Content-Type",
    answer: () =>
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nTrailer: Set-Cookie, Content-Type, X-Request-Id\r\n\r\n2\r\n{}\r\n0\r\nSet-Cookie: session=evil\r\nContent-Type: text/html\r\nX-Request-Id: evil\r\n\r\n",
  },
  {
    name: "103 Early Hints with links and cookies before the response",
    answer: () =>
      `HTTP/1.1 103 Early Hints\r\nLink: <https://evil.example/x.css>; rel=preload\r\nSet-Cookie: session=evil\r\nX-Request-Id: evil\r\n\r\n${answer("{}")}`,
  },
];
