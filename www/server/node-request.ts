// The request of Node's `http`, and of Express.

/** The parts of Node's `IncomingMessage`, and of Express' request, that the handler reads. */
export interface NodeRequest {
  method?: string | undefined;
  url?: string | undefined;
  /** Express: the URL before a router removed its prefix. */
  originalUrl?: string;
  /** Express: the client's address, as `trust proxy` says. */
  ip?: string | undefined;
  /** The body, if a framework has read it already. */
  body?: unknown;
  headers: Record<string, string | string[] | undefined>;
  httpVersionMajor: number;
  complete: boolean;
  readableEnded: boolean;
  socket: { remoteAddress?: string | undefined };
  iterator(options: { destroyOnReturn: boolean }): AsyncIterator<Uint8Array>;
  on(event: "data", listener: (part: Uint8Array) => void): unknown;
  once(event: "end", listener: () => void): unknown;
}
