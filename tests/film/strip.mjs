// Draws a scene as one picture: its steps in a row, each with its caption and problems.

/** Maximum pictures in a row. */
const COLUMNS = 7;
const GAP = 20;

const escapeHtml = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

function page(title, size, scheme, steps, width) {
  const figures = steps.map(({ caption, problems, picture }, index) => {
    const image = picture
      ? `<img src="data:image/png;base64,${picture.toString("base64")}" width="${width}">`
      : "<div></div>";
    const wrong = problems.map((problem) => `<li>${escapeHtml(problem)}</li>`).join("");
    return `<figure>${image}<figcaption>${index + 1}. ${escapeHtml(caption)}</figcaption><ul>${wrong}</ul></figure>`;
  });
  const columns = Math.min(COLUMNS, steps.length);
  const ink = scheme === "dark" ? ["#16181c", "#e8eaee", "#ff9a8d"] : ["#fff", "#222", "#b3261e"];
  return `<!doctype html><title>${escapeHtml(title)}</title><style>
    body { margin: 0; padding: ${GAP}px; inline-size: max-content; background: ${ink[0]}; color: ${ink[1]}; font: 15px/20px system-ui, sans-serif; }
    h1 { margin: 0 0 ${GAP}px; font-size: 20px; } h1 small { font-weight: 400; opacity: 0.7; }
    main { display: grid; grid-template-columns: repeat(${columns}, ${width}px); gap: ${GAP}px; align-items: start; }
    figure { margin: 0; } img { display: block; outline: 1px solid #8888; } figcaption { padding-top: 6px; font-weight: 600; }
    ul { margin: 4px 0 0; padding: 0 0 0 16px; color: ${ink[2]}; font-size: 12px; line-height: 16px; overflow-wrap: anywhere; }
  </style><h1>${escapeHtml(title)} <small>${size}, ${scheme}</small></h1><main>${figures.join("")}</main>`;
}

/** Returns a scene as a PNG. `width` is that of each picture, in pixels. */
export async function drawStrip(browser, { title, size, scheme, steps, width }) {
  const context = await browser.newContext({ viewport: { width: 200, height: 200 } });
  try {
    const drawn = await context.newPage();
    await drawn.setContent(page(title, size, scheme, steps, width));
    const box = await drawn.locator("body").boundingBox();
    await drawn.setViewportSize({ width: Math.ceil(box.width), height: Math.ceil(box.height) });
    return await drawn.screenshot();
  } finally {
    await context.close();
  }
}

/** Returns the HTML page of all strips, one section per scene with its sizes and schemes side by side. */
export function indexPage(plays) {
  const groups = new Map();
  for (const play of plays) groups.set(play.scene, [...(groups.get(play.scene) ?? []), play]);
  const sections = [...groups].map(([scene, played]) => {
    const bad = played.filter(({ problems }) => problems.length > 0).length;
    const strips = played.map(({ file, size, scheme, problems }) => {
      const wrong = problems.map((problem) => `<li>${escapeHtml(problem)}</li>`).join("");
      return `<details ${problems.length > 0 ? 'class="bad"' : ""}><summary>${size}, ${scheme}</summary><ul>${wrong}</ul><a href="${file}"><img loading="lazy" src="${file}" alt=""></a></details>`;
    });
    const points = scene.points ? ` <small>points ${scene.points.join(", ")}</small>` : "";
    return `<section><h2>${escapeHtml(scene.title)}${points} ${bad > 0 ? `<b>${bad} of ${played.length} failed</b>` : ""}</h2>${strips.join("")}</section>`;
  });
  const failed = plays.filter(({ problems }) => problems.length > 0).length;
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>The film</title><style>
    body { margin: 24px; font: 15px/22px system-ui, sans-serif; } h2 { margin: 24px 0 4px; font-size: 17px; } small { font-weight: 400; color: #666; }
    b, .bad > summary { color: #b3261e; } ul { color: #b3261e; } details { display: inline-block; margin: 0 12px 4px 0; vertical-align: top; }
    details[open] { display: block; } img { max-width: 100%; border: 1px solid #ccc; }
  </style><h1>The film</h1><p>${plays.length - failed} passed, ${failed} failed.</p>${sections.join("")}</html>`;
}
