// Hostile contents: JSON that parsers fail at, in every operation that reads a body, and hostile texts in every place where
// a visitor or an operator can put one.

import { gzipSync } from "node:zlib";
import { naughty, origin, payloads } from "../../../e2e/corpora.mjs";
import { exchange, get, request } from "../../client.mjs";
import { judged } from "../judge.mjs";
import { all, operations } from "../operations.mjs";
import { ADMIN, API, SHOP } from "../program.mjs";

const KIB = 1024;
const deep = (open, close, depth) => `${open.repeat(depth)}${close.repeat(depth)}`;

/** Bodies by name. A field of the operation takes the place of FIELD. */
const BODIES = {
  "an empty body": "",
  "white space": " \n\t ",
  "a null byte": "\0",
  "a byte order mark": "\ufeff{}",
  "bytes that are not UTF-8": Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]),
  "an overlong encoding": Buffer.from([0x7b, 0x22, 0xc0, 0xae, 0x22, 0x3a, 0x31, 0x7d]),
  null: "null",
  "an array": "[]",
  "a text": '"text"',
  "a number": "1e999",
  "arrays 30,000 deep": deep("[", "]", 15_000),
  "objects 5,000 deep": deep('{"a":', "}", 5_000).replace("}", "1}"),
  "a member 127 deep": `{"FIELD":${deep("[", "]", 126)}}`,
  "a member 10,000 deep": `{"FIELD":${deep("[", "]", 10_000)}}`,
  "a member twice": '{"FIELD":"a","FIELD":"b"}',
  "a member twice, once escaped": '{"FIELD":"a","\\u0046IELD":"b"}',
  "a lone high surrogate": '{"FIELD":"a\\ud800b"}',
  "a lone low surrogate as a name": '{"\\udc00":"a","FIELD":"b"}',
  "an escaped null byte": '{"FIELD":"a\\u0000b"}',
  "a raw null byte": '{"FIELD":"a\0b"}',
  "a raw line break": '{"FIELD":"a\nb"}',
  "an infinite number": '{"FIELD":1e99999}',
  "a huge number": `{"FIELD":${"9".repeat(10_000)}}`,
  "a number beyond 64 bits": '{"FIELD":18446744073709551616}',
  NaN: '{"FIELD":NaN}',
  "a member of another type": '{"FIELD":{"$ne":null}}',
  __proto__: '{"__proto__":{"role":"owner"},"constructor":{"prototype":{}},"FIELD":"x"}',
  "30,000 members": `{${Array.from({ length: 3_000 }, (_, n) => `"member${n}":1`).join()}}`,
  "a name of 30 KB": `{"${"n".repeat(30 * KIB)}":1}`,
  "a trailing comma": '{"FIELD":"a",}',
  "something behind the end": '{"FIELD":"a"}{"FIELD":"b"}',
  "a truncated body": '{"FIELD":"a',
  SQL: `{"FIELD":"' OR '1'='1'; DROP TABLE sites; --"}`,
};

/** Returns the name of the first member that an operation reads; null if it reads no body. */
function fieldOf({ openapi }, { name }) {
  const [method, path] = name.split(" ");
  let schema = openapi.paths[path][method.toLowerCase()].requestBody?.content["application/json"].schema;
  if (schema?.$ref) schema = openapi.components.schemas[schema.$ref.split("/").at(-1)];
  return schema ? (Object.keys(schema.properties ?? {})[0] ?? "message") : null;
}

/** Returns the operations that read a body: those of the admin API, of the connector API, and of the proxy paths. */
function readers(program) {
  // Signing in is slowed down after failures: the attacks on sessions test it.
  const own = operations(program, program.site).filter(({ path }) => !path.endsWith("/session"));
  const paths = [
    "/chat/messages",
    "/events",
    "/content/sync",
    "/auth/activate",
    "/site/jobs/next",
    "/site/jobs/j1/complete",
  ];
  const admin = own
    .map((operation) => ({ ...operation, field: fieldOf(program, operation), headers: { Cookie: program.cookie } }))
    .filter(({ field }) => field !== null);
  const api = paths.map((path) => ({
    name: `POST ${path}`,
    method: "POST",
    path: `${API}${path}`,
    field: path.includes("events") ? "events" : "message",
    headers: { Authorization: `Bearer ${program.token}`, "Idempotency-Key": "hostile-key-1" },
  }));
  const proxied = api
    .slice(0, 2)
    .map((one) => ({ ...one, path: one.path.replace(API, `/connector/${program.site}`), headers: { Origin: SHOP } }));
  return [...admin, ...api, ...proxied];
}

/** Sends a request, and returns its problems by name. The proxy paths allow the shop's origin. */
async function tried(program, name, bytes, expected = {}) {
  const cors = {
    // Every page may read that an unknown site has no chat.
    "access-control-allow-origin": (value) => value === SHOP || value === "*",
    "access-control-expose-headers": () => true,
  };
  const attack = { headers: cors, ...expected };
  const problems = judged(attack, await exchange(program.port, bytes), program.secrets);
  return problems.map((problem) => `${name}: ${problem}`);
}

const json = (program, { method, path, headers }, body, more = {}) =>
  request(
    `${method} ${path} HTTP/1.1`,
    { Host: program.host, "Content-Type": "application/json", ...headers, ...more },
    body,
  );

/** Hostile texts: naughty ones, and some of the others. `share` divides their number. */
const texts = (share) =>
  [...naughty, ...payloads.filter((_, n) => n % 25 === 0).map((one) => one.payload ?? one)].filter(
    (_, n) => n % share === 0,
  );

/** Places for each text; the others take turns. */
const MAX_PLACES = 2;

/** Returns the attacks, with all texts or a share of them. */
export const contentOf = (share) => [
  {
    name: "JSON that parsers fail at, in every operation that reads a body",
    memory: true,
    run(program) {
      const requests = readers(program).flatMap((reader) =>
        Object.entries(BODIES).map(([what, body]) => [reader, what, body]),
      );
      return all(requests, ([reader, what, body]) => {
        const filled =
          typeof body === "string"
            ? body.replaceAll("FIELD", reader.field).replaceAll("\\u0046IELD", `${reader.field}`)
            : body;
        return tried(program, `${reader.name} with ${what}`, json(program, reader, filled));
      });
    },
  },
  {
    name: "compressed bodies are not expanded",
    memory: true,
    run(program) {
      const bomb = gzipSync(Buffer.alloc(50 * KIB * KIB));
      return all(readers(program), (reader) =>
        tried(program, `${reader.name} with a bomb`, json(program, reader, bomb, { "Content-Encoding": "gzip" }), {
          refused: true,
        }),
      );
    },
  },
  {
    name: `hostile texts in messages are stored as they are, or refused (${naughty.length} and ${payloads.length} texts, ${origin})`,
    async run(program) {
      return all(texts(share), async (text) => {
        const sent = await program.write(text);
        if (sent.status === 400) return [];
        if (sent.status !== 200) return [`${JSON.stringify(text).slice(0, 80)} was answered with ${sent.status}`];
        const query = `conversationId=${encodeURIComponent(sent.data.conversationId)}`;
        const path = `/connector/${program.site}/chat/messages?${query}`;
        const read = await program.call("GET", path, undefined, { headers: { Origin: SHOP } });
        const own = read.data?.messages?.filter(({ content }) => content === text.trim() || content === text);
        return own?.length === 1
          ? []
          : [`${JSON.stringify(text).slice(0, 80)} was stored as ${JSON.stringify(read.data).slice(0, 120)}`];
      });
    },
  },
  {
    name: "hostile texts as ids, keys, cursors and languages",
    run(program) {
      const places = texts(share).flatMap((text, n) => {
        const id = encodeURIComponent(text.toWellFormed());
        const owner = { Host: program.host, Cookie: program.cookie };
        const shop = { Host: program.host, Origin: SHOP };
        const own = Buffer.from(text)
          .toString("latin1")
          .replaceAll(/[\r\n\0]/g, " ");
        return [
          get(`/connector/${program.site}/chat/messages?conversationId=${id}&after=${id}&limit=${id}`, shop),
          get(`/connector/${program.site}/chat/config?locale=${id}&visitorId=${id}`, {
            ...shop,
            "Accept-Language": own,
          }),
          get(`/connector/${id}/chat/config`, shop),
          get(`${ADMIN}/conversations/${id}/messages?after=${id}`, owner),
          get(`${ADMIN}/conversations?search=${id}&q=${id}&cursor=${id}`, owner),
          get(`${ADMIN}/sites/${program.site}/visitors/${id}`, owner),
          json(
            program,
            { method: "POST", path: `/connector/${program.site}/chat/messages`, headers: { Origin: SHOP } },
            JSON.stringify({ visitorId: text, conversationId: text, message: "x", locale: text, pageUrl: text }),
            { "Idempotency-Key": own },
          ),
        ]
          .filter((_, place, { length }) => (place + n) % length < MAX_PLACES)
          .map((bytes) => [text, bytes]);
      });
      return all(places, ([text, bytes]) =>
        tried(program, `${JSON.stringify(text).slice(0, 60)} in ${String(bytes).slice(0, 60)}`, bytes),
      );
    },
  },
];
