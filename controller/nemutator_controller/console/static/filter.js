// What a person types into the filter box, as a question about one entry of the tree. Pure.

const QUESTIONS = {
  name: (entry, wanted) => `${entry.name} ${entry.script}`.toLowerCase().includes(wanted),
  path: (entry, wanted) => entry.path.toLowerCase().includes(wanted),
  kind: (entry, wanted) => entry.kind === wanted,
  pid: (entry, wanted) => String(entry.pid) === wanted,
  // "go", "go1.26" and "go 1.26.8" all name a runtime; a blank cannot be typed inside one word.
  runtime: (entry, wanted) =>
    entry.runtimes.some((name) => name.toLowerCase().replaceAll(" ", "").startsWith(wanted)),
};

export const KEYS = Object.keys(QUESTIONS);

function term(word) {
  if (word.length > 1 && word.startsWith("-")) {
    const inner = term(word.slice(1));
    return (entry) => !inner(entry);
  }
  const [key, ...rest] = word.split(":");
  const wanted = rest.join(":");
  if (wanted && Object.hasOwn(QUESTIONS, key)) {
    return (entry) => QUESTIONS[key](entry, wanted);
  }
  // Names may contain a colon: a word with another key is looked for in names.
  return (entry) => QUESTIONS.name(entry, word);
}

/** All words must hold. Null when nothing is asked, which means that there is no filter. */
export function parse(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return null;
  const terms = words.map(term);
  return (entry) => terms.every((holds) => holds(entry));
}
