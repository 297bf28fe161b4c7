// `@site-connector/chat-widget/server/files`: a journal in files, for servers with a file system: Node, Deno and Bun.

export { fileJournal } from "./file-journal.js";
