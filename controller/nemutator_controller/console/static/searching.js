// What of the words in a list's filter the brain is asked for, because it has more than is shown. Pure.

/** As many characters as the brain takes. */
const LONGEST = 200;

/**
 * `workload:WORD` (of nodes `node:WORD`: *key* is what names are called) is looked for among all of them; a word alone,
 * which may stand in any cell, among those that are shown and among the names of all (`besides`). Null where nothing is
 * to be asked.
 */
export function searchOf(typed, key) {
  const words = typed.split(/\s+/).filter(Boolean);
  const named = words.filter((word) => word.toLowerCase().startsWith(`${key}:`)).map((word) => word.slice(key.length + 1)).filter(Boolean);
  const bare = words.filter((word) => !word.startsWith("-") && !/[:<>]/.test(word));
  const search = (named.length > 0 ? named : bare).join(" ").slice(0, LONGEST);
  return search === "" ? null : { search, besides: named.length === 0 };
}

/** *document* with those items of *found* that it lacks; *keyOf* says which is which. */
export function joined(document, found, keyOf) {
  const known = new Set(document.items.map(keyOf));
  const more = found.items.filter((item) => !known.has(keyOf(item)));
  return { ...document, items: [...document.items, ...more], remaining: Math.max(0, (document.remaining ?? 0) - more.length) };
}
