// Deep Chat, as its documentation adds it, behind the launcher that it does not have.

import "deep-chat";

const CORNER = "position:fixed;inset-block-end:20px;inset-inline-end:20px;";

function start() {
  const launcher = document.body.appendChild(document.createElement("button"));
  launcher.id = "by-hand";
  launcher.style.cssText = `${CORNER}inline-size:56px;block-size:56px;border:0;border-radius:50%;background:#0f766e`;
  launcher.ariaLabel = "Open chat";
  launcher.addEventListener("click", () => {
    const chat = document.createElement("deep-chat");
    chat.style.cssText = `${CORNER}inline-size:384px;block-size:640px`;
    chat.connect = { url: "/connector/chat/messages" };
    launcher.replaceWith(chat);
  });
}

if (document.body) start();
else document.addEventListener("DOMContentLoaded", start);
