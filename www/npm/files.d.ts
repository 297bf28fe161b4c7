/** Written by the build: the modules of `dist/` that are loaded on demand. */
declare const files: Record<string, (() => Promise<{ default: unknown }>) | undefined>;
export default files;
