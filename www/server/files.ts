// `@site-connector/chat-widget/server/files`: a journal in files, and articles in a Git folder, for servers with a file
// system: Node, Deno and Bun.

export { fileJournal } from "./file-journal.js";
export { type GitFolderOptions, gitFolder } from "./git-folder.js";
