// The parts of Node's modules that the journal in files and the handler for a git folder use. The package needs no types
// of Node.

declare module "node:fs/promises" {
  interface FileHandle {
    writeFile(text: string): Promise<void>;
    sync(): Promise<void>;
    close(): Promise<void>;
  }
  export function open(path: string, flags: string, mode?: number): Promise<FileHandle>;
  export function readFile(path: string, encoding: "utf8"): Promise<string>;
  export function writeFile(path: string, text: string): Promise<void>;
  export function rename(from: string, to: string): Promise<void>;
  export function link(from: string, to: string): Promise<void>;
  export function unlink(path: string): Promise<void>;
  export function mkdir(path: string, options: { recursive: true; mode?: number }): Promise<unknown>;
  export function readdir(path: string): Promise<string[]>;
  export function lstat(path: string): Promise<{ mtimeMs: number; isFile(): boolean; isDirectory(): boolean }>;
}

declare module "node:path" {
  export function join(...parts: string[]): string;
  export function dirname(path: string): string;
}

declare module "node:child_process" {
  interface Result {
    status: number | null;
    stdout: string;
    stderr: string;
  }
  type Done = (error: (Error & { code?: number | string }) | null, stdout: string, stderr: string) => void;
  interface Child {
    stdin: { end(text: string): void; on(event: "error", listener: () => void): void } | null;
  }
  export function execFile(
    program: string,
    args: string[],
    options: { cwd: string; env: Record<string, string | undefined>; maxBuffer: number; signal?: AbortSignal },
    done: Done,
  ): Child;
}
