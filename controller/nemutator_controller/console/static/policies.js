// MutationPolicies: what each does, and what an edited one would make different. Pure.

import { cell, place } from "./cells.js";
import { diff } from "./edits.js";
import { counted, visible } from "./format.js";

const FOR = { pod: "pods, as they are created", template: "templates of workloads", live: "pods, also those that run" };

const GRADES = { Apply: "calm", Preview: "notice" };

export const policies = {
  title: "Policies",
  about:
    "What changes objects as they are created, in the order of these names. An edited policy is tried on what there is now before it is saved; in a cluster you save it as yourself, with what RBAC grants you.",
  empty:
    "There is no MutationPolicy. “New policy” writes one; `kubectl apply` and, without a cluster, `nemutator apply` take files of them.",
  path: "/api/v1/policies",
  columns: ["Policy", "Mode", "For", "Changes", "State"],
  acts: true,
  row: (one) => ({
    key: one.name,
    cells: [
      cell(one.name),
      cell(one.mode, { grade: GRADES[one.mode] ?? "none" }),
      cell(FOR[one.apply_to] ?? one.apply_to),
      cell(one.verbs.join(", ")),
      cell(one.fault || one.condition || "sound", { grade: one.fault ? "suffer" : one.condition ? "notice" : "calm", wide: true }),
    ],
    links: [{ text: "what it changed", href: `#mutations/${encodeURIComponent(`policies:${one.name}`)}` }],
    offers: [{ text: "Edit", edits: { name: one.name } }],
  }),
};

/** One to begin with: it changes nothing by itself. */
export const NEW = {
  name: "",
  version: "",
  text: `apiVersion: nemutator.io/v1alpha1
kind: MutationPolicy
metadata:
  name: team-labels
spec:
  # Preview computes and logs; Apply changes objects as they are created.
  mode: Preview
  match:
    namespaceSelector:
      matchLabels:
        kubernetes.io/metadata.name: default
  mutations:
  - labels:
      set:
        team: platform
`,
};

/** The line that a refusal names; null where it names none. */
export function faultyLine(said) {
  const [, line] = /^line (\d+): /.exec(said) ?? [];
  return line === undefined ? null : Number(line);
}

/** From where to where line *number* of *typed* goes. */
export function lineIn(typed, number) {
  const lines = typed.split("\n");
  const before = lines.slice(0, number - 1);
  const begin = before.reduce((sum, line) => sum + line.length + 1, 0);
  return [Math.min(begin, typed.length), Math.min(begin + (lines[number - 1] ?? "").length, typed.length)];
}

/** What an edited policy would make different, in lines. */
export function previewLines({ objects, more, changed, items, mode }) {
  const head = `${counted(changed, "object")} of ${objects}${more ? " that were looked at" : ""} would be different.`;
  const found = items.flatMap(({ object, edits, refused, warnings }) => [
    { sign: "head", text: visible(`${object.kind} ${place(object.namespace, object.name)}`) },
    ...(refused ? [{ sign: "-", text: visible(`refused: ${refused}`) }] : []),
    ...warnings.map((text) => ({ sign: "note", text: visible(text) })),
    ...diff(edits),
  ]);
  const left = changed - items.length;
  return [
    { sign: "note", text: head },
    ...(mode === "Apply" ? [] : [{ sign: "note", text: "In the mode Preview it writes nothing: this is what it would write in the mode Apply." }]),
    ...found.slice(0, 1000),
    ...(left > 0 ? [{ sign: "note", text: `and ${counted(left, "object")} more` }] : []),
  ];
}
