// Mistakes that violate an invariant of the session, as edits of its sources. `npm run mutations` introduces each of them.

/** A name, a file below crates/session/src, and texts that the file has once, each with the one in its place. */
export const MISTAKES = [
  {
    name: "a key that is made anew on each retry",
    file: "outbox/message.rs",
    edits: [
      [
        "let mut request = self.state.take_request().unwrap_or_else(|| SendRequest {",
        "let attempts = self.attempts();\n        self.state.take_request();\n        let mut request = None.unwrap_or_else(|| SendRequest {",
      ],
      ["key: key(visitor, &self.id, self.round),", "key: key(visitor, &self.id, attempts),"],
      ["attempts: 0,\n        });\n        request", "attempts,\n        });\n        request"],
    ],
  },
  {
    name: "a body that is rebuilt after navigation",
    file: "outbox/message.rs",
    edits: [
      [
        "let mut request = self.state.take_request().unwrap_or_else(|| SendRequest {",
        "let attempts = self.attempts();\n        self.state.take_request();\n        let mut request = None.unwrap_or_else(|| SendRequest {",
      ],
      ["attempts: 0,\n        });\n        request", "attempts,\n        });\n        request"],
    ],
  },
  {
    name: "echoes that are not recognised",
    file: "timeline/entry.rs",
    edits: [
      ["let by_visitor = matches!(message.role, Role::Visitor | Role::Other(_));", "let by_visitor = false;"],
      [
        "self.may_be_of(message) && self.author == message.role",
        "self.author != Role::Visitor && self.author == message.role",
      ],
    ],
  },
  {
    name: "two leaders",
    file: "election.rs",
    edits: [["self.role == Role::Leader\n", "self.role != Role::Idle\n"]],
  },
  {
    name: "polling while hidden",
    file: "session/polling.rs",
    edits: [
      [
        "self.leads() && self.is_on() && self.online && self.visible && self.conversation.is_some()",
        "self.leads() && self.is_on() && self.online && self.conversation.is_some()",
      ],
    ],
  },
  {
    name: "a forgotten jitter",
    file: "random.rs",
    edits: [["duration_ms - fifth + self.up_to(2 * fifth)", "duration_ms"]],
  },
];
