// The team of operators that the benchmarks of the inbox measure.

/** The options of the service: one machine plays all visitors and all consoles. */
export const FLAGS = [
  ...["--trusted-hop", "127.0.0.1"],
  ...["--token-rate-per-minute", "100000000"],
  ...["--rate-per-minute", "1000000"],
];

/** Returns a function that sends a visitor's message and returns the id of its conversation. */
export async function sendingWith(team) {
  const { token } = await team.admin("token", "create", "--site", team.site.id);
  return async (visitor, message, conversationId) => {
    const response = await fetch(`${team.address}/api/connector/v1/chat/messages`, {
      method: "POST",
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      body: JSON.stringify({ message, conversationId, visitor: { visitorId: visitor, name: visitor } }),
    });
    if (!response.ok) throw new Error(`a message was refused: ${response.status} ${await response.text()}`);
    return (await response.json()).data.conversationId;
  };
}

/** Returns the value below which this share of sorted values is: the nearest rank. */
export const rank = (sorted, share) => sorted[Math.max(Math.ceil(sorted.length * share) - 1, 0)];
