// What of a place a person has chosen, as its address keeps it: `?sort=-cpu&filter=…&all=open&shut=…`. Pure.

/** Rows that were folded or unfolded one by one: an address has to stay one that can be sent. */
const MOST_FOLDED = 20;

export const NOTHING = { order: null, filter: "", all: null, open: [], shut: [] };

/** *hash* without what was chosen, and that. */
export function partsOf(hash) {
  const [path, ...rest] = hash.slice(1).split("?");
  const words = new URLSearchParams(rest.join("?"));
  const [, sign, column] = /^(-?)([a-z-]+)$/.exec(words.get("sort") ?? "") ?? [];
  const all = { open: true, shut: false }[words.get("all")] ?? null;
  const folded = (name) => words.getAll(name).slice(-MOST_FOLDED);
  return {
    path,
    kept: {
      order: column === undefined ? null : { column, descending: sign === "-" },
      filter: words.get("filter") ?? "",
      all,
      open: folded("open"),
      shut: folded("shut"),
    },
  };
}

/** The address of the place *path* with what was chosen there; *path* alone where that is nothing. */
export function hashOf(path, kept) {
  const { order, filter, all, open, shut } = { ...NOTHING, ...kept };
  const words = new URLSearchParams();
  if (order != null) words.set("sort", `${order.descending ? "-" : ""}${order.column}`);
  if (filter !== "") words.set("filter", filter);
  if (all != null) words.set("all", all ? "open" : "shut");
  for (const key of open.slice(-MOST_FOLDED)) words.append("open", key);
  for (const key of shut.slice(-MOST_FOLDED)) words.append("shut", key);
  const said = words.toString();
  return said === "" ? `#${path}` : `#${path}?${said}`;
}

/** Whether two orders are the same one; null is a list's own. */
export const sameOrder = (one, other) => one?.column === other?.column && one?.descending === other?.descending;
