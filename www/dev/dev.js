// Puts the widget on the development page, as soon as Trunk has started the module.

addEventListener(
  "TrunkApplicationStarted",
  async () => {
    const theme = new URLSearchParams(location.search).get("theme") ?? "teal";
    const sheet = await (await fetch(`/themes/${theme}.css`)).text();
    const host = document.body.appendChild(document.createElement("chat-widget"));
    const options = { proxy: "/connector", suggestedQuestions: ["How long does delivery take?"] };
    const tell = (name, detail) => console.log(`chat-widget:${name}`, detail);
    // Kept, or it would be collected and go from the page.
    window.handle = new window.wasmBindings.Handle(host, options, sheet, undefined, tell);
    window.handle.setOpen(true);
  },
  { once: true },
);
