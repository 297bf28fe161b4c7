/** Written by the build: the modules of `dist/` that are loaded when they are asked for. */
declare const files: Record<string, (() => Promise<{ default: unknown }>) | undefined>;
export default files;
