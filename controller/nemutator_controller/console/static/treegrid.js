// The table of what runs: rows of the tree, folded and unfolded, moved through by keyboard.

import { attribute, byId, fromTemplate, keyed, onSort, showSorted, text, width } from "./dom.js";
import { Folds } from "./folds.js";
import { UNKNOWN, bytes, cores, counted, percent } from "./format.js";
import { sameOrder } from "./kept.js";
import { NO_RATE_YET } from "./machine.js";
import { GROUP_LIMIT, flatten, narrow, ordering } from "./tree.js";

/** Numbers are sorted from the largest, names from the first. */
const DESCENDS_AT_FIRST = { name: false, cpu: true, memory: true, waiting: true, count: true };

const FIRST_ORDER = { column: "memory", descending: true };

const WHY_UNKNOWN = {
  cpu: NO_RATE_YET,
  memory: "not known: the kernel does not account memory for this group",
  waiting: "not known: the kernel reports pressure (PSI) for groups only, and not for this one",
};

const SUMMED = "the sum of its processes that were seen: the kernel counts no CPU for this group";

export class TreeGrid {
  #table = byId("tree");
  #body = this.#table.tBodies[0];
  #roots = [];
  #rows = [];
  #machine = { cpu_cores: null, memory_used_bytes: 0 };
  #matches = null;
  #sort = FIRST_ORDER;
  /** What a person folded or unfolded. A filter has choices of its own, forgotten with it. */
  #folds = new Folds();
  #foldsInFilter = new Folds();
  #limits = new Map();
  /** Key of the one row that Tab reaches. */
  #current = null;

  #changed = () => {};

  constructor() {
    this.#body.addEventListener("keydown", (event) => this.#pressed(event));
    this.#body.addEventListener("click", (event) => this.#clicked(event));
    this.#body.addEventListener("focusin", (event) => {
      const row = this.#rowOf(event.target);
      if (row && row.key !== this.#current) {
        this.#current = row.key;
        this.#draw();
      }
    });
    onSort(this.#table, (column) => this.#sortBy(column));
  }

  show(roots, machine) {
    this.#roots = roots;
    this.#machine = machine;
    this.#draw();
  }

  /** *changed* is called when a person has sorted or folded. */
  listen(changed) {
    this.#changed = changed;
  }

  filter(matches) {
    this.#matches = matches;
    this.#foldsInFilter.clear();
    this.#limits.clear();
    this.#draw();
  }

  /** The order and the folds that differ from those at first, as an address keeps them. */
  get kept() {
    return { order: sameOrder(this.#sort, FIRST_ORDER) ? null : this.#sort, ...this.#choices.kept };
  }

  /** Forget every choice, because another machine is shown, and choose what its address has *kept*. */
  restore(kept, matches) {
    this.#folds.clear();
    this.#foldsInFilter.clear();
    this.#limits.clear();
    this.#current = null;
    this.#matches = matches;
    this.#choices.restore(kept);
    const { order } = kept;
    this.#sort = order != null && Object.hasOwn(DESCENDS_AT_FIRST, order.column) ? order : FIRST_ORDER;
  }

  foldAll(open) {
    this.#choices.chooseAll(open);
    this.#draw();
    this.#changed();
  }

  focusFirst() {
    this.#focus(this.#rows[0]);
  }

  get #choices() {
    return this.#matches ? this.#foldsInFilter : this.#folds;
  }

  #shown() {
    return this.#matches ? narrow(this.#roots, this.#matches) : this.#roots;
  }

  #draw() {
    this.#rows = flatten(this.#shown(), {
      order: ordering(this.#sort.column, this.#sort.descending),
      isOpen: (entry) => this.#choices.isOpen(entry),
      limitOf: (parent) => this.#limits.get(parent) ?? GROUP_LIMIT,
    });
    if (!this.#rows.some((row) => row.key === this.#current)) {
      this.#current = this.#rows[0]?.key ?? null;
    }
    keyed(
      this.#body,
      this.#rows,
      (row) => fromTemplate(row.entry ? "row" : "more"),
      (element, row) => this.#fill(element, row),
    );
    showSorted(this.#table, this.#sort);
  }

  #fill(element, row) {
    attribute(element, "aria-level", row.level);
    attribute(element, "aria-posinset", row.position);
    attribute(element, "aria-setsize", row.size);
    attribute(element, "tabindex", row.key === this.#current ? 0 : -1);
    element.style.setProperty("--level", row.level - 1);
    if (row.entry) this.#fillEntry(element, row);
    else text(element.firstElementChild, row.says);
  }

  #fillEntry(element, { entry, expanded }) {
    const [name, cpu, memory, waiting, count] = element.cells;
    attribute(element, "aria-expanded", expanded);
    attribute(element, "data-kind", entry.kind);
    const [, label, badges, detail] = name.children;
    text(label, entry.name);
    text(detail, entry.detail);
    keyed(
      badges,
      entry.runtimes.map((name) => ({ key: name, name })),
      () => document.createElement("span"),
      (badge, { name: shown }) => text(badge, shown),
    );
    attribute(name, "title", `${entry.name}\n${entry.path}`);
    const say = entry.summed ? (value) => `~${cores(value)}` : cores;
    this.#fillNumber(cpu, entry.cpu, say, this.#machine.cpu_cores, "cpu");
    if (entry.summed) attribute(cpu, "title", SUMMED);
    this.#fillNumber(memory, entry.memory, bytes, this.#machine.memory_used_bytes, "memory");
    const waits = entry.waiting == null ? UNKNOWN : `${entry.waits} ${percent(entry.waiting)}`.trim();
    text(waiting.firstElementChild, waits);
    attribute(waiting, "data-quiet", entry.waiting == null || entry.waiting < 1);
    attribute(waiting, "title", entry.waiting == null ? WHY_UNKNOWN.waiting : null);
    text(count.firstElementChild, String(entry.count));
    const unit = entry.kind === "process" ? ["thread"] : ["process", "processes"];
    attribute(count, "title", counted(entry.count, ...unit));
  }

  #fillNumber(cell, value, say, whole, column) {
    const part = value == null || !whole ? 0 : value / whole;
    width(cell.firstElementChild, part);
    text(cell.lastElementChild, say(value));
    const share = `${percent(100 * part)} of what the machine uses`;
    attribute(cell, "title", value == null ? WHY_UNKNOWN[column] : whole ? share : null);
  }

  #sortBy(column) {
    const same = column === this.#sort.column;
    const descending = same ? !this.#sort.descending : DESCENDS_AT_FIRST[column];
    this.#sort = { column, descending };
    this.#draw();
    this.#changed();
  }

  #rowOf(target) {
    const key = target.closest("tr")?.dataset.key;
    return this.#rows.find((row) => row.key === key);
  }

  #clicked(event) {
    // A person who selects text does not want to fold.
    if (!document.getSelection().isCollapsed) return;
    const row = this.#rowOf(event.target);
    if (row && event.target.closest("td:first-child")) this.#activate(row);
  }

  #activate(row) {
    if (row.entry) this.#fold(row, !row.expanded);
    else if (row.parent != null) this.#showMore(row);
  }

  #fold(row, open) {
    if (row.expanded == null) return;
    this.#choices.choose(row.key, open);
    this.#draw();
    this.#changed();
  }

  #showMore(row) {
    const before = this.#rows.indexOf(row);
    this.#limits.set(row.parent, (this.#limits.get(row.parent) ?? GROUP_LIMIT) + GROUP_LIMIT);
    this.#draw();
    this.#focus(this.#rows[before]);
  }

  #pressed(event) {
    const row = this.#rowOf(event.target);
    const action = row && KEYS[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const index = this.#rows.indexOf(row);
    const { focus, fold, activate } = action({ row, rows: this.#rows, index });
    if (focus) this.#focus(focus);
    if (fold != null) this.#fold(row, fold);
    if (activate) this.#activate(row);
  }

  #focus(row) {
    if (!row) return;
    this.#current = row.key;
    this.#draw();
    const element = this.#body.children[this.#rows.findIndex(({ key }) => key === row.key)];
    element.focus();
  }
}

/** The keys of a tree grid, as the ARIA practices describe them. */
const KEYS = {
  ArrowDown: ({ rows, index }) => ({ focus: rows[index + 1] }),
  ArrowUp: ({ rows, index }) => ({ focus: rows[index - 1] }),
  Home: ({ rows }) => ({ focus: rows[0] }),
  End: ({ rows }) => ({ focus: rows.at(-1) }),
  ArrowRight: ({ row, rows, index }) =>
    row.expanded ? { focus: rows[index + 1] } : { fold: true },
  ArrowLeft: ({ row, rows }) =>
    row.expanded ? { fold: false } : { focus: rows.find(({ key }) => key === row.parent) },
  Enter: () => ({ activate: true }),
  " ": () => ({ activate: true }),
};
