// The sections of the gallery.

/** The states in the order of the overview. Of a `low` page only the lower end is shown. */
export const SECTIONS = [
  {
    title: "Closed",
    low: true,
    about: "The page before the window is opened.",
    states: ["closed", "greeting", "unread", "preview", "launcher-failed"],
  },
  {
    title: "Talking",
    about: "A conversation from the first question to a person who takes over.",
    states: [
      "empty",
      "short",
      "conversation",
      "markdown",
      "typing",
      "joined",
      "operator",
      "returned",
      "scrolled",
      "composer",
      "long",
    ],
  },
  {
    title: "Waiting and failing",
    about: "An answer is late, a message is not sent, or nothing can be sent. Each shows what the visitor can do.",
    states: ["wait", "person-offered", "noreply", "failed", "offline", "quota", "blocked"],
  },
  {
    title: "Contact and data",
    about: "The visitor's contact details, and the data stored about them.",
    states: ["contact", "form", "contact-done", "menu", "mydata"],
  },
  {
    title: "Edges",
    about: "Other places, other directions, and texts that do not fit.",
    states: ["inline", "rtl", "edges"],
  },
];
