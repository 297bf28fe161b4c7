// Mounts the widget on the development page as soon as Trunk has loaded the module.

/** @typedef {Awaited<ReturnType<typeof import("../../target/glue/chat_widget.js").default>>} Glue */

addEventListener(
  "TrunkApplicationStarted",
  async () => {
    const { Handle } = /** @type {Window & { wasmBindings: Glue }} */ (/** @type {unknown} */ (window)).wasmBindings;
    const theme = new URLSearchParams(location.search).get("theme") ?? "teal";
    const sheet = await (await fetch(`/themes/${theme}.css`)).text();
    const options = {
      proxy: `${location.origin}/connector`,
      locale: "en",
      launcher: true,
      consent: true,
      suggestedQuestions: ["How long does delivery take?"],
    };
    /** @param {string} name @param {unknown} detail */
    const onEvent = (name, detail) => console.log(`chat-widget:${name}`, detail);
    const handle = new Handle(options, undefined, undefined, onEvent);
    handle.show(document.body.appendChild(document.createElement("chat-widget")), sheet);
    // Keeps the handle from being collected, and within reach of the console.
    Object.assign(window, { handle });
  },
  { once: true },
);
