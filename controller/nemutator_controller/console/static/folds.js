// Which rows of a tree a person has folded or unfolded: all at once, and some one by one since. Pure.

export class Folds {
  /** What was asked for all: true is unfolded; null where nothing was. */
  #all = null;
  #chosen = new Map();

  isOpen({ key, open }) {
    return this.#chosen.get(key) ?? this.#all ?? open;
  }

  choose(key, open) {
    // What was chosen last comes last: it is what the address keeps.
    this.#chosen.delete(key);
    this.#chosen.set(key, open);
  }

  chooseAll(open) {
    this.#chosen.clear();
    this.#all = open;
  }

  clear() {
    this.chooseAll(null);
  }

  get kept() {
    const those = (wanted) => [...this.#chosen].filter(([, open]) => open === wanted).map(([key]) => key);
    return { all: this.#all, open: those(true), shut: those(false) };
  }

  restore({ all, open, shut }) {
    this.chooseAll(all);
    for (const key of open) this.#chosen.set(key, true);
    for (const key of shut) this.#chosen.set(key, false);
  }
}
