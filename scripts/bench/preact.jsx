// The floor: the least that can be written by hand, a launcher and a window that sends messages.

import { h, render } from "preact";
import { useState } from "preact/hooks";

const CORNER = "position:fixed;inset-block-end:20px;inset-inline-end:20px;";
const LAUNCHER = `${CORNER}inline-size:56px;block-size:56px;border:0;border-radius:50%;background:#0f766e;color:#fff`;
const WINDOW = `${CORNER}display:flex;flex-direction:column;inline-size:384px;block-size:640px;border-radius:16px;background:#fff;box-shadow:0 16px 48px rgb(0 0 0/0.2)`;

function Window({ onClose }) {
  const [messages, setMessages] = useState([]);
  const [draft, setDraft] = useState("");
  const send = async (event) => {
    event.preventDefault();
    const sent = [...messages, ["visitor", draft]];
    setMessages(sent);
    setDraft("");
    const response = await fetch("/connector/chat/messages", {
      method: "POST",
      headers: { "Content-Type": "application/json", "Idempotency-Key": crypto.randomUUID() },
      body: JSON.stringify({ visitorId: "by-hand", message: draft }),
    });
    const { data } = await response.json();
    setMessages([...sent, ["assistant", data.reply ?? ""]]);
  };
  return (
    <section role="dialog" aria-label="Chat" style={WINDOW}>
      <header>
        <button type="button" aria-label="Close" onClick={onClose}>
          ×
        </button>
      </header>
      <div role="log" style="flex:1;overflow:auto">
        {messages.map(([author, text]) => (
          <p class={author}>{text}</p>
        ))}
      </div>
      <form onSubmit={send}>
        <textarea autofocus value={draft} onInput={({ target }) => setDraft(target.value)} />
        <button type="submit">Send</button>
      </form>
    </section>
  );
}

function Chat() {
  const [isOpen, setOpen] = useState(false);
  if (isOpen) return <Window onClose={() => setOpen(false)} />;
  return (
    <button id="by-hand" type="button" aria-label="Open chat" style={LAUNCHER} onClick={() => setOpen(true)}>
      <svg viewBox="0 0 20 20" width="32" height="32" aria-hidden="true" fill="none" stroke="currentColor">
        <path d="M10 3a7 7 0 0 1 0 14l-4 1 .5-3A7 7 0 0 1 10 3z" />
      </svg>
    </button>
  );
}

const start = () => render(<Chat />, document.body.appendChild(document.createElement("div")));
if (document.body) start();
else document.addEventListener("DOMContentLoaded", start);
