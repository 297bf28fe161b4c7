// Reads the modules of a crate and what they import of each other.

import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Returns the source without comments, literals, and unit tests at its end. */
const code = (source) =>
  source
    .replace(/"(?:[^"\\]|\\[^])*"|\/\/.*$/gm, (found) => (found.startsWith('"') ? '""' : ""))
    .replace(/#\[cfg\((?:all\()?test\b[^\]]*\]\s*mod \w+ \{[^]*$/, "")
    // A module inside a file is a part of the module around it.
    .replace(/^(?:pub(?:\([^)]*\))? )?mod \w+ \{\n[^]*?\n\}/gm, (module) => module.replaceAll("super::", "self::"));

/** Returns the paths that a `use` tree names, as `[segments, name]`; the name is that by which the path is known then. */
function pathsOf(tree, before = []) {
  const text = tree.trim();
  const brace = text.indexOf("{");
  if (brace < 0) {
    const [path, alias] = text.split(/\s+as\s+/);
    const segments = [...before, ...path.split("::").filter(Boolean)];
    const last = segments.at(-1) === "self" ? segments.slice(0, -1) : segments;
    return [[last, alias ?? last.at(-1)]];
  }
  const prefix = [...before, ...text.slice(0, brace).split("::").filter(Boolean)];
  const parts = [];
  let [depth, part] = [0, ""];
  for (const letter of text.slice(brace + 1, text.lastIndexOf("}"))) {
    if (letter === "," && depth === 0) {
      parts.push(part);
      part = "";
    } else {
      depth += letter === "{" ? 1 : letter === "}" ? -1 : 0;
      part += letter;
    }
  }
  return [...parts, part].filter((each) => each.trim()).flatMap((each) => pathsOf(each, prefix));
}

/**
 * Reads the modules below a root file, such as `lib.rs`, without those of tests. Returns for each the file, the modules that
 * it imports, and the names that it re-exports. The name of a module is its path, such as `ui::inbox`; the root's is empty.
 */
export function modulesOf(root) {
  const modules = new Map();
  const read = (name, file, folder) => {
    const text = code(readFileSync(file, "utf8"));
    modules.set(name, { file, text, uses: new Map(), exports: new Map() });
    for (const [, attributes, child] of text.matchAll(/((?:#\[[^\]]*\]\s*)*)(?:pub(?:\([^)]*\))? )?mod (\w+);/g)) {
      if (/cfg\((?:all\()?test\b/.test(attributes) || attributes.includes("path =")) continue;
      const found = [join(folder, `${child}.rs`), join(folder, child, "mod.rs")].find(existsSync);
      if (found) read(name ? `${name}::${child}` : child, found, join(folder, child));
    }
  };
  read("", root, dirname(root));
  for (const [name, module] of modules) {
    for (const [, isPublic, tree] of module.text.matchAll(/^ *(pub(?:\([^)]*\))? )?use ([^;]+);/gm))
      for (const [path, as] of pathsOf(tree)) (isPublic ? module.exports : module.uses).set(as, path);
    // Paths in expressions and types.
    for (const [path] of module.text.matchAll(/(?<![\w:] *)(?:crate|super)(?:::\w+)+/g))
      module.uses.set(path, path.split("::"));
    module.name = name;
  }
  return modules;
}

/** Returns the module that a path leads to, seen from a module, or nothing if it leads out of the crate. */
export function moduleAt(modules, from, [first, ...rest], seen = new Set()) {
  let at;
  let segments = rest;
  if (first === "crate") at = "";
  else if (first === "self") at = from;
  else if (first === "super") at = from.split("::").slice(0, -1).join("::");
  else if (modules.has(from ? `${from}::${first}` : first)) [at, segments] = [from, [first, ...rest]];
  else return undefined;
  for (; segments[0] === "super"; segments = segments.slice(1)) at = at.split("::").slice(0, -1).join("::");
  for (; segments.length > 0; segments = segments.slice(1)) {
    const child = at ? `${at}::${segments[0]}` : segments[0];
    if (!modules.has(child)) break;
    at = child;
  }
  const exported = modules.get(at).exports.get(segments[0]);
  const key = `${at} ${segments[0]}`;
  if (!exported || seen.has(key)) return at;
  return moduleAt(modules, at, exported, seen.add(key)) ?? at;
}

/** Returns the modules that each module imports, by their names. */
export function importsOf(modules) {
  const imports = new Map();
  for (const [name, { uses, exports }] of modules) {
    const found = [...uses.values(), ...exports.values()].map((path) => moduleAt(modules, name, path));
    imports.set(name, new Set(found.filter((to) => to !== undefined && to !== name)));
  }
  return imports;
}

/**
 * Returns the circles among modules beside each other: `a` imports `b`, or a module below it does, and the other way round.
 * A module and those below it are one.
 */
export function circlesIn(imports) {
  const edges = new Map();
  for (const [from, all] of imports) {
    for (const to of all) {
      const [left, right] = [from.split("::"), to.split("::")];
      let depth = 0;
      while (depth < Math.min(left.length, right.length) && left[depth] === right[depth]) depth += 1;
      // One is above the other.
      if (from === "" || to === "" || depth === left.length || depth === right.length) continue;
      const [a, b] = [left, right].map((path) => path.slice(0, depth + 1).join("::"));
      if (!edges.has(a)) edges.set(a, new Map());
      if (!edges.get(a).has(b)) edges.get(a).set(b, `${from} → ${to}`);
    }
  }
  const circles = [];
  const done = new Set();
  const visit = (module, path) => {
    const start = path.findIndex(([name]) => name === module);
    if (start >= 0) circles.push(path.slice(start).map(([, because]) => because));
    if (start >= 0 || done.has(module)) return;
    for (const [next, because] of edges.get(module) ?? []) visit(next, [...path, [module, because]]);
    done.add(module);
  };
  for (const module of edges.keys()) visit(module, []);
  return circles;
}
