// The few ways in which this page changes the document. Strangers' text goes in as text only, and
// only what has changed is written, so that a selection, a tooltip and the focus survive.

export const byId = (id) => document.getElementById(id);

export function text(element, wanted) {
  if (element.textContent !== wanted) element.textContent = wanted;
}

export function attribute(element, name, wanted) {
  if (wanted == null) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(wanted)) element.setAttribute(name, wanted);
}

export function hide(element, hidden) {
  if (element.hidden !== hidden) element.hidden = hidden;
}

/** Widths go through the CSSOM: the page's policy refuses style attributes, ours included. */
export function width(element, part) {
  const wanted = `${(100 * Math.min(1, Math.max(0, part || 0))).toFixed(1)}%`;
  if (element.style.width !== wanted) element.style.width = wanted;
}

export function fromTemplate(id) {
  return byId(id).content.firstElementChild.cloneNode(true);
}

/** The buttons in the head of *table* call *choose* with the column that they are of. */
export function onSort(table, choose) {
  for (const button of table.tHead.querySelectorAll("[data-sort]")) {
    button.addEventListener("click", () => choose(button.dataset.sort));
  }
}

/** Say in the head of *table* how its rows are sorted. */
export function showSorted(table, { column, descending }) {
  for (const button of table.tHead.querySelectorAll("[data-sort]")) {
    const sorted = descending ? "descending" : "ascending";
    const active = button.dataset.sort === column;
    attribute(button.closest("th"), "aria-sort", active ? sorted : null);
  }
}

/**
 * Make the children of *parent* one per key of *rows*, in their order: kept where they exist, so
 * that a redraw disturbs nothing, made by *make* where they do not, and filled by *fill*.
 */
export function keyed(parent, rows, make, fill) {
  const before = new Map([...parent.children].map((child) => [child.dataset.key, child]));
  const focused = parent.contains(document.activeElement) ? document.activeElement : null;
  const wanted = rows.map((row) => {
    const element = before.get(row.key) ?? make(row);
    before.delete(row.key);
    element.dataset.key = row.key;
    fill(element, row);
    return element;
  });
  for (const gone of before.values()) gone.remove();
  wanted.forEach((element, index) => {
    const there = parent.children[index];
    if (there !== element) parent.insertBefore(element, there ?? null);
  });
  // Moving an element takes the focus from it.
  if (focused?.isConnected && document.activeElement !== focused) {
    focused.focus({ preventScroll: true });
  }
}
