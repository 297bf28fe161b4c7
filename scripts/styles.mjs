// The style sheets that the scripts of `dist/` contain: the loader's launcher, and the deferred sheet.

import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { root } from "./setup.mjs";

/** Returns the custom properties of a style sheet. */
function tokensOf(css) {
  return new Map([...css.matchAll(/(--cw-[\w-]+):\s*([^;]+);/g)].map(([, name, value]) => [name, value]));
}

/** Returns the declarations of those `tokens` that a text uses, directly or by way of each other. */
function declarations(text, tokens) {
  const used = new Map();
  const visit = (part) => {
    for (const [, name] of part.matchAll(/var\((--cw-[\w-]+)/g)) {
      if (used.has(name) || !tokens.has(name)) continue;
      used.set(name, tokens.get(name));
      visit(tokens.get(name));
    }
  };
  visit(text);
  return [...used].map(([name, value]) => `${name}:${value}`).join(";");
}

/**
 * Returns the colours of each theme's launcher for the loader, without `#`: accent, dark accent, dark focus and, where there
 * is a lighter theme of the same accent, its dark accent and dark icon. All other icons are white, and the light focus has
 * the accent's colour.
 */
function launcherColours(read) {
  const sides = (theme) => {
    const tokens = tokensOf(read(`themes/${theme}.css`));
    return ["accent", "on-accent", "focus"].flatMap((name) => {
      const [light, night = light] = tokens.get(`--cw-${name}`).match(/#[\da-f]{6}/g);
      return [light, night];
    });
  };
  const themes = readdirSync(join(root, "themes")).map((file) => basename(file, ".css"));
  const colours = {};
  for (const theme of themes.filter((theme) => !theme.startsWith("light_"))) {
    const [accent, dark, icon, ink, focus, focusDark] = sides(theme);
    const lighter = themes.includes(`light_${theme}`) ? sides(`light_${theme}`) : [];
    const [sameAccent = accent, lightDark = "", white = icon, lightInk = "", sameFocus = focus, sameDark = focusDark] =
      lighter;
    const fits =
      [icon, ink, white].every((colour) => colour === "#ffffff") &&
      [focus, sameAccent, sameFocus].every((colour) => colour === accent);
    if (!fits || sameDark !== focusDark)
      throw new Error(
        `invalid launcher colours of ${theme}: the loader expects white icons and a focus in the accent's colour`,
      );
    colours[theme] = [accent, dark, focusDark, lightDark, lightInk].join("").replaceAll("#", "");
  }
  return JSON.stringify(colours);
}

/** Returns the constants of the loader: sheet, colours, icon and label of the launcher. */
export async function launcher(esbuild) {
  const read = (path) => readFileSync(join(root, path), "utf8");
  const minify = async (css) => (await esbuild.transform(css, { loader: "css", minify: true })).code.trim();
  // Until the module is there, the button has no badge and no focus ring of its own.
  const sheet = withConstants(
    read("styles/launcher.css").replace(/\.cw-badge \{[^}]*\}/, ""),
    read("styles/tokens.css"),
  );
  const base = read("styles/base.css")
    .match(/:host[^{]*\{[^}]*\}/g)
    .join("");
  const reset =
    ".cw-launcher{box-sizing:border-box;margin:0;padding:0;border:0;cursor:pointer}" +
    ".cw-icon{display:block;fill:none;stroke:currentColor;stroke-linecap:round;stroke-linejoin:round}";
  const tokens = `:host{${declarations(sheet, tokensOf(read("styles/tokens.css")))}}`;
  return {
    LAUNCHER_SHEET: JSON.stringify(await minify(base + tokens + reset + sheet)),
    LAUNCHER_COLOURS: launcherColours(read),
    LAUNCHER_ICON: JSON.stringify(read("src/ui/icon.rs").match(/CHAT: &str = "([^"]+)"/)[1]),
    LAUNCHER_LABEL: JSON.stringify(read("src/text/strings.rs").match(/"openChat": "([^"]+)"/)[1]),
  };
}

/** Returns whether the build writes a token's value in place of its name, so that no page can set it, as `build.rs` does. */
export const isConstant = (name) => /^--cw-(space|weight|motion)-/.test(name);

/** Returns a sheet with constant tokens replaced by their values. */
function withConstants(sheet, tokens) {
  const constants = [...tokensOf(tokens)].filter(([name]) => isConstant(name));
  return constants.reduce((sheet, [name, value]) => sheet.replaceAll(`var(${name})`, value), sheet);
}

/** Returns the sheet that the module is built without: the files of `styles/deferred/` in the order of `build.rs`. */
export async function deferredStyles(esbuild) {
  const read = (path) => readFileSync(join(root, path), "utf8");
  const names = [...read("build.rs").matchAll(/"(deferred\/[\w-]+)"/g)].map(([, name]) => name);
  const sheet = names.map((name) => read(`styles/${name}.css`)).join("\n");
  const { code } = await esbuild.transform(withConstants(sheet, read("styles/tokens.css")), {
    loader: "css",
    minify: true,
  });
  return code.trim();
}
