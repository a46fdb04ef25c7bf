// What can be profiled, to pick from: typing narrows it, arrows move through it, a button profiles.

import * as brain from "./brain.js";
import { byId, fromTemplate, hide, keyed, text } from "./dom.js";
import { outcome } from "./takingback.js";
import { leftOut, target, targetCells } from "./lists.js";

/** Show *targets*, which is null where a person may not see them. */
export function showTargets(targets) {
  hide(byId("targets"), targets == null);
  if (targets == null) return;
  keyed(
    byId("targets-rows"),
    targets.items.map((one) => ({ ...one, key: `${one.node} ${one.target}` })),
    () => fromTemplate("target"),
    fill,
  );
  text(byId("targets-left"), leftOut(targets));
}

function fill(element, one) {
  element.picked = { kind: one.kind, value: one.value, node: one.node };
  targetCells(one).forEach((shown, index) => text(element.cells[index].firstElementChild, shown));
  for (const button of element.querySelectorAll("button")) {
    button.setAttribute("aria-label", `${button.textContent} of ${element.cells[0].textContent}, ${one.target}`);
    // Other heaps are not read.
    if (button.dataset.measure === "heap") hide(button, one.runtime !== "go");
  }
}

/** *search* is called as a person types, *asked* after each profile that was asked for. */
export function listenToPicker({ search, asked }) {
  const form = byId("ask");
  const box = form.elements.target;
  box.addEventListener("input", () => search(box.value));
  box.addEventListener("keydown", (event) => move(event, -1));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const wanted = target(box.value);
    if (wanted == null) return text(byId("ask-answer"), "Write a name, pid:1234, cgroup:/path or namespace/pod.");
    await ask(wanted, event.submitter?.value);
    return asked();
  });
  byId("targets-rows").addEventListener("click", async (event) => {
    const button = event.target.closest("button");
    if (button == null) return;
    await ask(button.closest("tr").picked, button.dataset.measure);
    asked();
  });
  byId("targets-rows").addEventListener("keydown", (event) => {
    move(event, [...byId("targets-rows").children].indexOf(event.target.closest("tr")));
  });
}

/** From row *index* to the one above or below; above all rows is the box. */
function move(event, index) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step == null || event.ctrlKey || event.metaKey || event.altKey) return;
  const rows = byId("targets-rows").children;
  const wanted = index + step < 0 ? byId("ask").elements.target : rows[index + step]?.querySelector("button");
  if (wanted == null) return;
  event.preventDefault();
  wanted.focus();
}

/** Ask for a profile of *wanted*, of its CPU time, of what it waits for or of its heap; the answer is shown beside the form. */
async function ask(wanted, measure) {
  const seconds = Number(byId("ask").elements.seconds.value);
  const questions = { heap: { measure }, "off-cpu": { measure, seconds } };
  const question = { target: wanted, ...(questions[measure] ?? { seconds, hz: 99 }) };
  text(byId("ask-answer"), "…");
  text(byId("ask-answer"), await outcome(brain.post("/api/v1/profiles", question), () => "asked for"));
}
