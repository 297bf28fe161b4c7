// What is known about the visitor of the chosen conversation.

import { time } from "./dates.js";
import { at, element, joinParts, showFacts } from "./page.js";

/** Maximum events that are shown. */
const MAX_EVENTS = 50;

function showLead({ score, hasContact, needsHandoff, summary }) {
  const points = Math.round(score ?? 0);
  const meter = element("meter");
  meter.max = 100;
  meter.value = points;
  meter.setAttribute("aria-label", "Intent");
  const tags = element("p", "tags");
  tags.append(element("span", hasContact ? "tag good" : "tag", hasContact ? "Can be reached" : "No contact details"));
  if (needsHandoff) tags.append(element("span", "tag warm", "Wants a person"));
  at("lead").replaceChildren(element("p", "score", `${points} of 100`), meter, tags, element("p", "", summary ?? ""));
}

function showVisitor({ visitor, locale, sourcePage, id }, siteName) {
  showFacts(at("visitor"), {
    Name: visitor.name,
    Email: visitor.email,
    Phone: visitor.phone,
    WeChat: visitor.wechat,
    WhatsApp: visitor.whatsapp,
    Company: visitor.company,
    Country: visitor.country,
    Language: locale,
    Site: siteName,
    Page: sourcePage,
    Visitor: visitor.visitorId,
    Conversation: id,
  });
}

function showOthers(others) {
  const items = others.map((other) => {
    const item = element("li");
    const link = element("a", "", `${other.messageCount} message${other.messageCount === 1 ? "" : "s"}`);
    link.href = `#conversation=${encodeURIComponent(other.id)}`;
    item.append(link, ` ${other.status}, `, time(other.updatedAt));
    return item;
  });
  at("others").replaceChildren(...(items.length > 0 ? items : [element("li", "hint", "None")]));
}

function showEvents(events) {
  const newest = events.toSorted((one, other) => (one.receivedAt < other.receivedAt ? 1 : -1)).slice(0, MAX_EVENTS);
  const items = newest.map((event) => {
    const item = element("li");
    const head = element("p");
    head.append(element("span", "type", event.eventType), " ", time(event.receivedAt));
    item.append(head, element("p", "what", joinParts(event.title, event.path)));
    return item;
  });
  at("events").replaceChildren(...(items.length > 0 ? items : [element("li", "hint", "None")]));
}

/** Shows the visitor of a conversation. */
export function showAbout(conversation, siteName) {
  showVisitor(conversation, siteName);
  showLead(conversation.lead ?? {});
  showOthers(conversation.otherConversations ?? []);
  showEvents(conversation.events ?? []);
}

export function clearAbout() {
  for (const id of ["visitor", "lead", "others", "events"]) at(id).replaceChildren();
}
