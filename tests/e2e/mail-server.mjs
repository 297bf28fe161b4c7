// A small SMTP server, which speaks the protocol on real connections and keeps what it gets.

import { once } from "node:events";
import { createServer } from "node:net";

/** Starts a server. Returns its `port`, `mails()`, each with `head` and decoded `text`, `mail(to)`, which waits, and `stop()`. */
export async function startMailServer() {
  const mails = [];
  const waiting = new Set();
  const sockets = new Set();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    let [rest, data] = ["", undefined];
    const say = (line) => socket.write(`${line}\r\n`);
    say("220 localhost ESMTP");
    socket.setEncoding("latin1");
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      const lines = (rest + chunk).split("\r\n");
      rest = lines.pop();
      for (const line of lines) {
        if (data && line === ".") {
          mails.push(read(data.join("\r\n")));
          data = undefined;
          say("250 accepted");
          for (const look of waiting) look();
        } else if (data) data.push(line.replace(/^\./, ""));
        else if (/^DATA/i.test(line)) {
          data = [];
          say("354 go ahead");
        } else if (/^QUIT/i.test(line)) socket.end("221 bye\r\n");
        else say("250 ok");
      }
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const find = (to) => mails.find(({ head }) => head.includes(`To: ${to}`));
  return {
    port: server.address().port,
    mails: () => mails,
    /** Returns the first e-mail to an address, within 90 s. */
    mail: (to) =>
      new Promise((resolve, reject) => {
        const timeout = setTimeout(() => (waiting.delete(look), reject(new Error(`no e-mail to ${to}`))), 90_000);
        const look = () => {
          const mail = find(to);
          if (!mail) return;
          clearTimeout(timeout);
          waiting.delete(look);
          resolve(mail);
        };
        waiting.add(look);
        look();
      }),
    stop: () =>
      new Promise((closed) => {
        server.close(closed);
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** Decodes the first part of an e-mail. */
function read(message) {
  const [head] = message.split("\r\n\r\n", 1);
  const boundary = /boundary="([^"]+)"/.exec(head)[1];
  const [partHead, ...body] = message.split(`--${boundary}`)[1].split("\r\n\r\n");
  const encoded = body.join("\r\n\r\n");
  const bytes = /base64/i.test(partHead)
    ? Buffer.from(encoded, "base64")
    : Buffer.from(
        encoded
          .replaceAll("=\r\n", "")
          .replace(/=([0-9A-F]{2})/g, (_, digits) => String.fromCharCode(Number.parseInt(digits, 16))),
        "latin1",
      );
  return { head, text: bytes.toString("utf8") };
}
