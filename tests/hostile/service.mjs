// A hostile service: records every byte that reaches it, and responds as the attack defines.

import { once } from "node:events";
import { createServer } from "node:net";
import { unchunk } from "./client.mjs";

/** Maximum stored bytes of a request's body. */
const MAX_KEPT = 1024 * 1024;

/** Returns a response with this body, its length and further headers. */
export function answer(body = "{}", { status = "200 OK", headers = "" } = {}) {
  const type = /^content-type:/im.test(headers) ? "" : "Content-Type: application/json\r\n";
  return `HTTP/1.1 ${status}\r\n${type}${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** Returns the response of a benign service. It contains the request's target, so that mixed-up responses are noticed. */
export function good({ line }) {
  const target = encodeURI(line);
  return answer(JSON.stringify({ ok: true, data: { line: target }, requestId: "req_good" }), {
    headers: "X-Request-Id: req_good\r\nX-Service-API-Version: 1\r\n",
  });
}

export class HostileService {
  /** Requests since the last `reset`, including incomplete ones. */
  requests = [];
  /** Bytes of responses sent since the last `reset`. */
  sent = 0;
  /** Responds to a request: returns the bytes to send, or writes them to the socket. */
  answer = good;
  #sockets = new Set();
  #server = createServer((socket) => this.#serve(socket));

  static async start() {
    const service = new HostileService();
    await once(service.#server.listen(0, "127.0.0.1").unref(), "listening");
    service.port = service.#server.address().port;
    service.origin = `http://127.0.0.1:${service.port}`;
    return service;
  }

  reset(answer = good) {
    this.requests = [];
    this.sent = 0;
    this.answer = answer;
  }

  stop() {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  #serve(socket) {
    this.#sockets.add(socket.on("close", () => this.#sockets.delete(socket)));
    // A disconnect is expected.
    socket.on("error", () => {});
    let rest = Buffer.alloc(0);
    let open = null;
    socket.on("data", (data) => {
      rest = rest.length > MAX_KEPT ? rest : Buffer.concat([rest, data]);
      if (open) open.received += data.length;
      for (;;) {
        open ??= this.#begin(rest);
        if (open === null) return;
        const body = rest.subarray(open.length);
        const chunks = open.value("transfer-encoding") ? unchunk(body) : null;
        const length = chunks ? chunks.length : Number(open.value("content-length") ?? 0);
        if (chunks ? !chunks.complete : body.length < length) return;
        Object.assign(open, { body: chunks ? chunks.body : body.subarray(0, length), complete: true });
        rest = body.subarray(length);
        this.#respond(socket, open);
        open = null;
      }
    });
  }

  /** Records a request as soon as its head is complete. */
  #begin(bytes) {
    const end = bytes.indexOf("\r\n\r\n");
    if (end < 0) return null;
    const [line, ...lines] = bytes.toString("latin1", 0, end).split("\r\n");
    const headers = lines.map((text) => {
      const [name, value = ""] = text.split(/:(.*)/s);
      return [name.toLowerCase(), value.trim()];
    });
    const value = (name) => headers.find(([one]) => one === name)?.[1];
    const request = {
      line,
      headers,
      value,
      length: end + 4,
      received: bytes.length,
      body: Buffer.alloc(0),
      complete: false,
    };
    this.requests.push(request);
    return request;
  }

  async #respond(socket, request) {
    const bytes = await this.answer(request, socket, this);
    if (bytes === undefined || socket.destroyed) return;
    this.sent += bytes.length;
    socket.write(bytes, typeof bytes === "string" ? "latin1" : undefined);
  }
}
