// The plugin's settings page, as a person in a browser uses it, without the browser.

import assert from "node:assert/strict";

export const PAGE = "/wp-admin/options-general.php?page=chat-widget";

/** Signs in. Returns a function that sends requests in this session. */
export async function signIn(site, log, pwd) {
  const request = (path, { headers, ...init } = {}) =>
    fetch(site.address + path, { redirect: "manual", headers: { ...headers, cookie }, ...init });
  let cookie = "wordpress_test_cookie=WP%20Cookie%20check";
  const answer = await request("/wp-login.php", {
    method: "POST",
    body: new URLSearchParams({ log, pwd, testcookie: 1 }),
  });
  assert.equal(answer.status, 302);
  cookie = answer.headers
    .getSetCookie()
    .map((one) => one.split(";")[0])
    .join("; ");
  return request;
}

/** Sends one of the forms of the page, with the fields that it has. */
export async function submit(request, action, fields, page) {
  const form = page.split("<form").find((form) => form.includes(`value="chat_widget_${action}"`));
  const nonce = form?.match(/name="_wpnonce" value="(\w+)"/)[1] ?? "";
  const body = new URLSearchParams({ action: `chat_widget_${action}`, _wpnonce: nonce, ...fields });
  return request("/wp-admin/admin-post.php", { method: "POST", body });
}
