// The table of attacks and proxies, and the measurements of attacks on limits.

const MIB = 1024 * 1024;

export class Report {
  #rows = new Map();
  #figures = new Map();

  note(group, attack, proxy, problems) {
    const row = this.#row(this.#rows, `${group}: ${attack}`);
    row.set(proxy, problems.length > 0 ? "FAILED" : "held");
  }

  measured(attack, proxy, { ms, memory, sent }) {
    const parts = [
      `${ms} ms`,
      ...(memory === undefined ? [] : [`${(memory / MIB).toFixed(1)} MiB`]),
      ...(sent ? [`read ${(sent / MIB).toFixed(1)} MiB`] : []),
    ];
    this.#row(this.#figures, attack).set(proxy, parts.join(", "));
  }

  #row(rows, name) {
    if (!rows.has(name)) rows.set(name, new Map());
    return rows.get(name);
  }

  print(proxies) {
    const table = (title, rows) => {
      console.log(`\n| ${[title, ...proxies].join(" | ")} |\n| --- |${" --- |".repeat(proxies.length)}`);
      for (const [name, row] of rows) {
        const shown = name.replaceAll(/[^ -~]/gu, (one) => encodeURIComponent(one)).replaceAll("|", "\\|");
        console.log(`| ${[shown, ...proxies.map((proxy) => row.get(proxy) ?? "–")].join(" | ")} |`);
      }
    };
    table("attack", this.#rows);
    table("until it was refused, growth of memory", this.#figures);
    const all = [...this.#rows.values()].flatMap((row) => [...row.values()]);
    console.log(
      `\n${all.length} attacks: ${all.filter((one) => one === "held").length} held, ${all.filter((one) => one === "FAILED").length} FAILED`,
    );
  }
}
