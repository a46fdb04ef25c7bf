// What taking many mutations back would do, one line for each, and what came of it. Pure.

import { counted } from "./format.js";

/** One mutation of many: *plan* as the brain made it, or null and why it did not. */
export function planned({ id, object }, plan, refused) {
  if (plan == null) return { id, path: object, what: refused, verdict: "conflict", can: false };
  const of = (verdict) => plan.steps.filter((step) => step.verdict === verdict).length;
  const words = [
    `${counted(of("reverse"), "field")} to take back`,
    of("already") > 0 ? `${of("already")} done already` : "",
    of("conflict") > 0 ? `${of("conflict")} in conflict` : "",
    plan.steps.some(({ verdict, way }) => verdict === "reverse" && way === "new pod") ? "a part stays until the pod is replaced" : "",
  ];
  const can = of("reverse") > 0;
  return { id, path: object, what: words.filter(Boolean).join(", "), verdict: of("conflict") > 0 || !can ? "conflict" : "many", can };
}

/** How many came to which end: `3 reversed, 1 partly`. */
export function state(ends) {
  const counts = new Map();
  for (const end of ends) counts.set(end, (counts.get(end) ?? 0) + 1);
  return [...counts].map(([end, count]) => `${count} ${end}`).join(", ");
}
