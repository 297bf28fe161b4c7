// Records the requests and errors of a visitor's browser on the shop's pages, and fails the test for unexpected ones.

import assert from "node:assert/strict";
import { eventually } from "./chat.mjs";

/**
 * The proxy's five paths, the widget's files, the shop's own pages and pictures, the gallery's files, and
 * those of the Leptos shop and of the development page.
 */
const ALLOWED = [
  /^\/connector\/(chat\/(config|messages|presence)|events)$/,
  /^\/chat-widget\/[\w-]+(\/[\w-]+)*\.(js|mjs|wasm)$/,
  /^\/([\w-]+\.(html|css|svg))?$/,
  /^\/gallery\/[\w-]+\.(js|css)$/,
  /^\/(start\.mjs|dev\.js|(leptos-shop|chat-widget)(_bg\.wasm|\.js)|themes\/\w+\.css)$/,
];
/** The browser's own message for each error response and each failed connection. */
const ANSWER_WAS_AN_ERROR = /^Failed to load resource: (the server responded with a status of|net::ERR_)/;

export class Record {
  /** Every request: `{method, path, search, headers, page, at}`, `at` by the clock of `performance`. */
  requests = [];
  /** The unexpected requests, errors and warnings. */
  complaints = [];
  /** The responses whose body could not be read, because the page was left. */
  unread = [];
  /** The addresses of the responses that were read. */
  read = [];
  #context;
  #origin;
  #token;
  #tolerated = [];
  /** The requests whose headers and bodies are being read. */
  #reading = new Set();

  /** `token` is the one between the shop's proxy and the service. */
  static async of(context, site, token) {
    const record = new Record();
    record.#context = context;
    record.#origin = new URL(site).origin;
    record.#token = token;
    await context.exposeBinding("reportViolation", (_, violation) => record.#complain(`policy: ${violation}`));
    await context.addInitScript(() => {
      const report = window.reportViolation;
      addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI, sample, sourceFile }) =>
        report(`${effectiveDirective} ${blockedURI} ${sample} in ${sourceFile}`),
      );
    });
    context.on("request", (request) => record.#requested(request));
    context.on("requestfinished", (request) => record.#read(request, record.#sent(request), record.#answered(request)));
    context.on("requestfailed", (request) => record.#read(request, record.#sent(request)));
    context.on("weberror", (error) => record.#complain(`page error: ${error.error().stack ?? error.error()}`));
    context.on("console", (message) => record.#logged(message));
    return record;
  }

  /** Returns the requests to a path, of a method if one is given. */
  of(path, method) {
    return this.requests.filter((request) => request.path === path && (!method || request.method === method));
  }

  /** Returns the requests that poll the conversation. */
  polls() {
    return this.requests.filter(({ method, path }) => method === "GET" && /\/chat\/(messages|presence)$/.test(path));
  }

  /** Returns all requests, each as `METHOD path`. */
  paths() {
    return this.requests.map(({ method, path }) => `${method} ${path}`);
  }

  /** Returns the files of the widget except the loader. */
  moduleFiles() {
    return this.requests.filter(({ path }) => /\.(mjs|wasm)$/.test(path)).map(({ path }) => path);
  }

  /** Returns the requests for the files that the window waits for. */
  windowFiles() {
    return this.moduleFiles().filter((path) => /chat-widget\.(mjs|wasm)$|\/themes\/|\/locales\//.test(path));
  }

  /** Accepts complaints with this text from now on. */
  tolerate(text) {
    this.#tolerated.push(text);
  }

  /** Removes and returns the complaints. */
  takeComplaints() {
    return this.complaints.splice(0);
  }

  /** Waits for complaints with each of these texts, and accepts them from then on: each may come more than once. */
  async complainsOf(...texts) {
    const isSeen = (text) => this.complaints.some((complaint) => complaint.includes(text));
    await eventually(() => assert.deepEqual(texts.filter(isSeen), texts));
    this.#tolerated.push(...texts);
    this.complaints = this.complaints.filter((complaint) => !texts.some((text) => complaint.includes(text)));
  }

  /** Asserts that there are no complaints. */
  async judge() {
    // Earlier events are reported before this call returns. A closed page rejects.
    await Promise.all(this.#context.pages().map((page) => page.evaluate(() => {}).catch(() => {})));
    await this.settle();
    assert.deepEqual(this.complaints, [], "the page had no problem");
  }

  /** Waits until all responses so far are read, except those of removed frames: Chromium may keep their headers. */
  async settle() {
    await eventually(() => {
      const waiting = [...this.#reading].filter((request) => !request.frame().isDetached());
      assert.equal(waiting.length, 0, `${waiting[0]?.url()} is not read`);
    });
  }

  summary() {
    const requests = this.requests.map(({ method, path, search }) => `${method} ${path}${search}`);
    return ["requests and complaints of the browser:", ...requests, ...this.complaints].join("\n  ");
  }

  async #read(request, ...readings) {
    this.#reading.add(request);
    await Promise.all(readings);
    this.#reading.delete(request);
  }

  #complain(text) {
    if (!this.#tolerated.some((known) => text.includes(known))) this.complaints.push(text);
  }

  #requested(request) {
    const { origin, pathname, search } = new URL(request.url());
    const headers = request.headers();
    const page = request.isNavigationRequest() ? undefined : request.frame().page();
    const at = performance.now();
    this.requests.push({ method: request.method(), path: pathname, search, headers, page, at });
    if (origin !== this.#origin) {
      this.#complain(`a request to another origin: ${request.url()}`);
    } else if (!ALLOWED.some((allowed) => allowed.test(pathname))) {
      this.#complain(`an unexpected request: ${pathname}`);
    }
  }

  /** Complains about a token in a request: only the proxy and the service use it. */
  async #sent(request) {
    // Includes the browser's own headers, unless the page is closed.
    const headers = await request.allHeaders().catch(() => request.headers());
    const sent = [request.url(), JSON.stringify(headers), request.postDataBuffer()?.toString("latin1")].join("\n");
    if (headers.authorization || sent.includes(this.#token))
      this.#complain(`a token in the request to ${request.url()}`);
  }

  async #answered(request) {
    try {
      const response = await request.response();
      const [headers, body] = await Promise.all([response.allHeaders(), response.body()]);
      this.read.push(request.url());
      const text = JSON.stringify(headers) + body.toString("latin1");
      if (/authorization|bearer /i.test(text) || text.includes(this.#token))
        this.#complain(`a token in the answer to ${request.url()}`);
    } catch {
      this.unread.push(request.url());
    }
  }

  #logged(message) {
    if (!["error", "warning"].includes(message.type())) return;
    const text = message.text();
    if (ANSWER_WAS_AN_ERROR.test(text) || this.#tolerated.some((tolerated) => text.includes(tolerated))) return;
    this.#complain(`console ${message.type()}: ${text}`);
  }
}
