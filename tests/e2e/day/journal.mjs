// A record of the texts that were sent during the day. Each text is unique, and each author's texts are in order.

/** The journal of all conversations. */
export class Journal {
  #texts = new Map();

  /** Returns the next text of an author in a visitor's conversation. `words` make it longer. */
  write(visitor, author, words = "") {
    const texts = this.of(visitor, author);
    const text = `${author} in the conversation of ${visitor}, text ${texts.length + 1}.${words && ` ${words}`}`;
    texts.push(text);
    return text;
  }

  /** Returns the texts of an author in a visitor's conversation, oldest first. */
  of(visitor, author) {
    const texts = this.#texts.get(visitor) ?? new Map();
    this.#texts.set(visitor, texts);
    if (!texts.has(author)) texts.set(author, []);
    return texts.get(author);
  }

  /** Returns the number of texts in a visitor's conversation. */
  count(visitor) {
    return [...(this.#texts.get(visitor)?.values() ?? [])].flat().length;
  }
}
