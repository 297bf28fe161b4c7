// Formats dates and times for operators, in the browser's time zone.

const format = (options) => new Intl.DateTimeFormat("en-GB", options);
const CLOCK = { hour: "2-digit", minute: "2-digit" };
const DAY = { day: "numeric", month: "long" };
const clock = format(CLOCK);
const clockWithSeconds = format({ ...CLOCK, second: "2-digit" });
const day = format(DAY);
const dayAndYear = format({ ...DAY, year: "numeric" });
const weekday = format({ ...DAY, weekday: "long" });
const fullDay = format({ dateStyle: "full" });
const fullTime = format({ dateStyle: "full", timeStyle: "medium" });

const DAY_MS = 24 * 60 * 60 * 1000;
const startOfDay = (date) => new Date(date.getFullYear(), date.getMonth(), date.getDate());
// A day on which the clocks change is not 24 hours long.
const daysAgo = (date, now) => Math.round((startOfDay(now) - startOfDay(date)) / DAY_MS);

function dayName(date, now, thisYear) {
  const ago = daysAgo(date, now);
  if (ago === 0) return "Today";
  if (ago === 1) return "Yesterday";
  return (date.getFullYear() === now.getFullYear() ? thisYear : dayAndYear).format(date);
}

/** Formats a moment: "17:40" today, otherwise "Yesterday, 17:40", "12 March, 09:14" or "12 March 2025, 09:14". */
const moment = (precision) => (date, now) => {
  const time = precision.format(date);
  return daysAgo(date, now) === 0 ? time : `${dayName(date, now, day)}, ${time}`;
};

const FORMS = {
  moment: moment(clock),
  "moment-with-seconds": moment(clockWithSeconds),
  clock: (date) => clock.format(date),
  day: (date, now) => dayName(date, now, weekday),
};

/** Returns whether two ISO 8601 moments are on the same day. */
export const onSameDay = (one, other) => new Date(one).toDateString() === new Date(other).toDateString();

function label(element, now) {
  const date = new Date(element.dateTime);
  element.textContent = FORMS[element.dataset.form](date, now);
}

/** Returns a `<time>` for an ISO 8601 moment, with the full date as its title; empty for an invalid date. */
export function time(iso, form = "moment") {
  const element = document.createElement("time");
  const date = new Date(iso ?? "");
  if (Number.isNaN(date.getTime())) return element;
  element.dateTime = iso;
  element.dataset.form = form;
  element.title = (form === "day" ? fullDay : fullTime).format(date);
  label(element, new Date());
  return element;
}

let today = new Date().toDateString();

/** Updates all labels when a new day begins, since "Today" becomes "Yesterday". */
function labelOnNewDay() {
  const now = new Date();
  if (now.toDateString() === today) return;
  today = now.toDateString();
  for (const element of document.querySelectorAll("time[data-form]")) label(element, now);
}

setInterval(labelOnNewDay, 30_000);
document.addEventListener("visibilitychange", labelOnNewDay);
