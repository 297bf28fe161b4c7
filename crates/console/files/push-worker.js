// The service worker of the operators' console. It shows pushes while no tab is open, and opens the conversation when its
// notification is clicked. It has no handler for requests, so that it never stands between the console and the service.

/** Returns what a push says. A push without readable content still has to be shown: browsers withdraw the permission else. */
function contentOf(data) {
  try {
    const { title, body, conversation, tag = conversation, lang, dir } = data.json();
    const texts = { title: String(title), body: String(body), conversation: String(conversation), tag: String(tag) };
    return { ...texts, lang, dir };
  } catch {
    return { title: "Chat console", body: "", conversation: "", tag: "", lang: "en", dir: "ltr" };
  }
}

/**
 * Shows a notification, which replaces the earlier one of its conversation, also that of an open tab. One about several
 * conversations has no conversation, and replaces the earlier one about several.
 */
function show({ title, body, conversation, tag, lang, dir }) {
  return self.registration.showNotification(title, {
    body,
    lang,
    dir,
    tag,
    renotify: tag !== "",
    icon: "/console/icon.svg",
    data: { conversation },
  });
}

/** Goes to a conversation in a tab of the console, the one that was seen last, or in a new one. */
async function open(conversation) {
  const tabs = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const tab = tabs.find(({ url }) => url.startsWith(self.registration.scope));
  if (!tab) {
    const page = conversation ? `inbox/${encodeURIComponent(conversation)}` : "";
    await self.clients.openWindow(new URL(page, self.registration.scope));
    return;
  }
  if (conversation) tab.postMessage({ type: "open-conversation", conversation });
  await tab.focus();
}

self.addEventListener("push", (event) => {
  event.waitUntil(show(contentOf(event.data)));
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data?.conversation ?? ""));
});
