// Taking back what was changed: one mutation, or all that are asked for, after their plan was seen.

import * as brain from "./brain.js";
import { planned, state } from "./bulkplan.js";
import { attribute, byId, fromTemplate, keyed, text } from "./dom.js";
import { showLines } from "./details.js";
import { stepLines } from "./edits.js";
import { visible } from "./format.js";

/** What came of a question, in words, with the remedy when it was refused. */
export async function outcome(question, say) {
  try {
    return say(await question);
  } catch (error) {
    if (error instanceof brain.RefusedError) return `${visible(error.message)} → ${visible(error.remedy)}`;
    if (error instanceof brain.SignedOutError) return `This session has ended: ${visible(error.message)}.`;
    if (error instanceof brain.LostError) return `The controller does not answer: ${error.message}`;
    throw error;
  }
}

const pathOf = (id, plan) => `/api/v1/mutations/${encodeURIComponent(id)}/rollback?plan=${plan}`;

/** Where a person asked, a list or the page of a workload; only one of them is seen. */
function say(words) {
  for (const id of ["list-outcome", "row-outcome"]) text(byId(id), words);
}

const dialog = () => byId("rollback");

function open(title) {
  text(byId("rollback-title"), title);
  text(byId("rollback-outcome"), "…");
  showSteps([]);
  dialog().returnValue = "";
  byId("rollback-do").disabled = true;
  dialog().showModal();
}

/** Whether the person says so, once the dialog is closed. */
async function agreed() {
  if (dialog().open) {
    await new Promise((resolve) => dialog().addEventListener("close", resolve, { once: true }));
  }
  return dialog().returnValue === "do";
}

/** Show what taking *wanted* back would do, and do it when the person says so. */
export async function takeBack(wanted) {
  open(`Take back what was changed of ${visible(wanted.object)}`);
  const told = await outcome(brain.post(pathOf(wanted.id, true)), (plan) => {
    showSteps(plan.steps);
    const some = plan.steps.some((step) => step.verdict === "reverse");
    byId("rollback-do").disabled = !some;
    return some ? "" : "There is nothing to take back.";
  });
  text(byId("rollback-outcome"), told);
  if (!(await agreed())) return;
  const done = (answer) => `${visible(answer.object.name)}: ${answer.state}`;
  say(await outcome(brain.post(pathOf(wanted.id, false)), done));
}

/** The same of many, one after another, the newest first; a dialog that is closed meanwhile ends the planning. */
export async function takeBackAll(wanted) {
  open(`Take back ${wanted.length} mutations`);
  const plans = [];
  for (const one of wanted) {
    if (!dialog().open) return;
    text(byId("rollback-outcome"), `planned ${plans.length} of ${wanted.length} …`);
    let plan = null;
    const refused = await outcome(brain.post(pathOf(one.id, true)), (answer) => ((plan = answer), ""));
    plans.push(planned(one, plan, refused));
    showSteps(plans);
  }
  const todo = plans.filter(({ can }) => can);
  byId("rollback-do").disabled = todo.length === 0;
  text(byId("rollback-outcome"), `${todo.length} of ${plans.length} can be taken back, without evicting a pod.`);
  if (!(await agreed())) return;
  const ends = [];
  for (const one of todo) {
    say(`taken back: ${ends.length} of ${todo.length} …`);
    ends.push(await outcome(brain.post(pathOf(one.id, false)), (answer) => answer.state));
  }
  say(state(ends));
}

function showSteps(steps) {
  keyed(
    byId("rollback-steps"),
    steps.map((step, index) => ({ key: String(index), ...step })),
    () => fromTemplate("step"),
    (item, step) => {
      const [path, values, what] = item.children;
      text(path, visible(step.path));
      showLines(values, stepLines(step));
      text(what, visible(step.what));
      attribute(item, "data-grade", step.verdict === "conflict" ? "notice" : "calm");
    },
  );
}
