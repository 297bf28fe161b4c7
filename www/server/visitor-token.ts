// The token that proves to the service who a visitor is: a short-lived JWT, signed with HS256 and the site's secret.

import type { VisitorProfile } from "../visitor-profile.js";
import { ConnectorError } from "./connector-error.js";

/** A visitor who is signed in on the site. */
export interface Identity extends Omit<VisitorProfile, "visitorId"> {
  /** The site's own id of the visitor, 1 to 256 bytes. It never changes, and never belongs to somebody else. */
  id: string;
}

/** The time for which a token is valid, in seconds. */
const LIFETIME_S = 300;
/** Minimum characters of a secret. The service's have 47. */
const MIN_SECRET_LENGTH = 32;

const encoder = new TextEncoder();

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

const HEADER = base64url(encoder.encode('{"alg":"HS256","typ":"JWT"}'));

/**
 * Returns the site's secret for visitor tokens, without white space around it.
 *
 * @throws {ConnectorError} with the kind `setup` if it cannot be one. The message does not contain it.
 */
export function parseVisitorSecret(secret: unknown): string {
  const text = typeof secret === "string" ? secret.trim() : "";
  if (text.length < MIN_SECRET_LENGTH)
    throw new ConnectorError("setup", "invalid visitorSecret: expected the secret that the console shows once");
  return text;
}

/**
 * Returns a token that proves a visitor for five minutes, for pages whose proxy knows no session: the option
 * `visitorToken` of `BrowserWidgetClient`. `connectorProxy` signs its own.
 *
 * @throws {ConnectorError} with the kind `setup` if the secret cannot be one.
 */
export async function signVisitorToken(secret: string, { id, ...fields }: Identity): Promise<string> {
  const bytes = encoder.encode(parseVisitorSecret(secret));
  const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const { name, email, phone, company, wechat, whatsapp, country } = fields;
  const exp = Math.floor(Date.now() / 1000) + LIFETIME_S;
  const claims = { sub: id, exp, name, email, phone, company, wechat, whatsapp, country };
  const signed = `${HEADER}.${base64url(encoder.encode(JSON.stringify(claims)))}`;
  const signature = await crypto.subtle.sign("HMAC", key, encoder.encode(signed));
  return `${signed}.${base64url(new Uint8Array(signature))}`;
}
