// Validates the data of responses: what a caller cannot do without. Any other member may be missing or unknown.

import type { ActivatedSite, Claim, ClaimedJob, Job, MessageList, OverlayList, SendResult } from "./types.js";

type Members = Record<string, unknown>;

/** The data of a response to a request with an `etag` that is still current. */
export const NOT_MODIFIED = Symbol("not modified");

function members(value: unknown, name = "data"): Members {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error(`${name} must be an object`);
  return value as Members;
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

function text(of: Members, name: string, within = ""): string {
  const value = of[name];
  if (!isText(value)) throw new Error(`${within}${name} is missing`);
  return value;
}

/** Returns data of which no member is required. */
export const readObject = <Data>(data: unknown) => members(data) as Data;

export function readSendResult(data: unknown): SendResult {
  const all = members(data);
  text(all, "conversationId");
  if (all["message"] != null) members(all["message"], "message");
  return data as SendResult;
}

export function readMessages(data: unknown): MessageList {
  const all = members(data);
  if (!Array.isArray(all["messages"])) throw new Error("messages must be an array");
  // An invalid message costs that message alone.
  const isMessage = (message: unknown) =>
    typeof message === "object" && message !== null && typeof (message as Members)["content"] === "string";
  return { ...all, messages: all["messages"].filter(isMessage) };
}

/** Returns overlays: `{"overlays": […]}`, `{"items": […]}` or the array itself. */
export function readOverlays(data: unknown, etag?: string): OverlayList {
  const version = etag === undefined ? {} : { etag };
  if (data === NOT_MODIFIED) return { overlays: [], isUnchanged: true, ...version };
  const overlays = Array.isArray(data) ? data : (members(data)["overlays"] ?? members(data)["items"]);
  if (!Array.isArray(overlays)) throw new Error("overlays must be an array");
  return { overlays: overlays.filter((one) => typeof one === "object" && one !== null), ...version };
}

export function readJob(data: unknown): Job {
  const job = members(members(data)["job"], "job");
  text(job, "id", "job.");
  return job as unknown as Job;
}

export function readClaim(data: unknown): Claim {
  const claim = members(data);
  const job = claim["job"] ?? null;
  if (job !== null) {
    readJob(data);
    // Without it, the job could not be completed.
    text(members(job), "claimToken", "job.");
  }
  return { ...claim, job: job as ClaimedJob | null };
}

export function readActivated(data: unknown): ActivatedSite {
  const all = members(data);
  const optional = (name: string) => (isText(all[name]) ? (all[name] as string) : undefined);
  const token = optional("siteToken") ?? text(all, "token");
  return { token, siteId: optional("siteId"), tenantId: optional("tenantId") };
}
