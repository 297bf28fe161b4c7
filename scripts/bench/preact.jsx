// What the widget's launcher is measured against: the least that can be written by hand.

import { h, render } from "preact";

const STYLE =
  "position:fixed;inset-block-end:20px;inset-inline-end:20px;inline-size:56px;block-size:56px;border:0;border-radius:50%;background:#0f766e;color:#fff";

function Launcher() {
  return (
    <button id="by-hand" type="button" aria-label="Open chat" style={STYLE}>
      <svg viewBox="0 0 20 20" width="32" height="32" aria-hidden="true" fill="none" stroke="currentColor">
        <path d="M10 3a7 7 0 0 1 0 14l-4 1 .5-3A7 7 0 0 1 10 3z" />
      </svg>
    </button>
  );
}

const start = () => render(<Launcher />, document.body.appendChild(document.createElement("div")));
if (document.body) start();
else document.addEventListener("DOMContentLoaded", start);
