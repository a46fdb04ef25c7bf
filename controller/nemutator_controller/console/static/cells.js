// Cells of the lists: text that is safe to read, and what is drawn or said beside it. Pure.

import { UNKNOWN, span, visible } from "./format.js";

export const cell = (text, more = {}) => ({ text: text === "" ? UNKNOWN : visible(text), ...more });

/** A cell with each text on a line of its own. */
export const lines = (...texts) => ({ text: texts.filter(Boolean).map(visible).join("\n") || UNKNOWN, wide: true });

/** The same of short texts, such as amounts, that need no room of their own. */
export const stacked = (...texts) => ({ ...lines(...texts), wide: null, stack: true });

export const ago = (at, now) => cell(at == null ? "" : `${span(now - at)} ago`);

/** Off clusters, the namespace of a process that runs in no group is `/`. */
export const place = (namespace, name) => (namespace ? `${namespace.replace(/\/$/, "")}/${name}` : name);
