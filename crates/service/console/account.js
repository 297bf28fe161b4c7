// Signing in, and the use of a one-time link.

import { get, post, remove } from "./api.js";
import { at, onSubmit } from "./page.js";

const LINK = /^#setup=(.+)$/;
const TITLES = {
  owner: ["Create the first account", (tenant) => `You become the owner of ${tenant}.`],
  invitation: ["Create your account", (tenant) => `You were invited to ${tenant}.`],
  password: ["Choose a new password", (tenant) => `Your account at ${tenant}.`],
};

let token = null;
let onSignedIn = () => {};

/** Shows one of the forms, or none. */
function show(form, title, hint, focus) {
  at("frame").hidden = true;
  at("view-account").hidden = false;
  for (const id of ["sign-in", "setup"]) {
    at(id).hidden = id !== form;
    at(id).querySelector(".problem").textContent = "";
  }
  at("account-retry").hidden = form !== null;
  at("account-title").textContent = title;
  at("account-hint").textContent = hint;
  document.title = `${title} · Console`;
  at(focus ?? "account-title").focus();
}

/** Shows the form for signing in. */
export function showSignIn(hint = "") {
  at("sign-in-second").hidden = true;
  at("sign-in-code").required = false;
  at("sign-in-code").value = "";
  at("sign-in-password").value = "";
  show("sign-in", "Sign in", hint, "sign-in-email");
}

async function showSetup(secret) {
  const link = await post("setup/check", { token: secret });
  token = secret;
  const [title, hint] = TITLES[link.kind] ?? TITLES.invitation;
  const isNew = link.kind !== "password";
  at("setup-who").hidden = !isNew;
  at("setup-name").required = isNew;
  at("setup-email").value = link.email ?? "";
  at("setup-email").readOnly = Boolean(link.email);
  show("setup", title, hint(link.tenant), isNew ? "setup-name" : "setup-password");
}

/** Shows the form that is needed, or calls `signedIn(session)`. */
export async function begin(signedIn) {
  onSignedIn = signedIn;
  const secret = LINK.exec(location.hash)?.[1];
  try {
    if (secret) {
      // The secret stays in no history.
      history.replaceState(null, "", location.pathname);
      await showSetup(secret);
    } else {
      signedIn(await get("session"));
    }
  } catch (error) {
    if (error.code === "INVALID_LINK") showSignIn(`${error.message} Sign in, or ask for a new link.`);
    else if (error.status === 401) showSignIn();
    else show(null, "Console", error.message, "account-retry");
  }
}

/** Ends the session. */
export async function signOut() {
  await remove("session");
  showSignIn("You are signed out.");
}

onSubmit(at("sign-in"), async () => {
  const code = at("sign-in-code").value.trim();
  const body = { email: at("sign-in-email").value, password: at("sign-in-password").value };
  try {
    const session = await post("session", code ? { ...body, code } : body);
    at("sign-in").reset();
    onSignedIn(session);
  } catch (error) {
    if (error.code !== "TOTP_REQUIRED") throw error;
    at("sign-in-second").hidden = false;
    at("sign-in-code").required = true;
    at("sign-in-code").focus();
  }
});

onSubmit(at("setup"), async () => {
  const [name, email, password] = ["setup-name", "setup-email", "setup-password"].map((id) => at(id).value);
  const session = await post("setup", { token, ...(at("setup-who").hidden ? {} : { name }), email, password });
  token = null;
  at("setup").reset();
  if (session.signedIn) onSignedIn(session);
  else showSignIn("The password is changed. Sign in with it.");
});

at("account-retry").addEventListener("click", () => begin(onSignedIn));
addEventListener("hashchange", () => {
  if (LINK.test(location.hash)) begin(onSignedIn);
});
