// The dialog in which a policy is edited as YAML: tried first, and saved as it was tried.

import * as brain from "./brain.js";
import { byId, text } from "./dom.js";
import { showLines } from "./details.js";
import { visible } from "./format.js";
import { NEW, faultyLine, lineIn, previewLines } from "./policies.js";
import { outcome } from "./takingback.js";

const PATH = "/api/v1/policies";

/** The policy that is edited, as it was read; null while it is being read. */
let edited = NEW;
/** The text whose preview is shown; null: none is. */
let tried = null;

const box = () => byId("policy-text");
const say = (words) => text(byId("policy-outcome"), words);

function untried() {
  tried = null;
  byId("policy-save").disabled = true;
}

/** Open the policy of *name* as it is now, or a new one. */
export async function editPolicy({ name } = NEW) {
  untried();
  text(byId("policy-title"), name ? `Edit the policy ${visible(name)}` : "New policy");
  edited = name ? null : NEW;
  box().value = edited?.text ?? "";
  box().disabled = edited == null;
  byId("policy-try").disabled = edited == null;
  showLines(byId("policy-lines"), []);
  say(edited == null ? "…" : "");
  byId("policy").showModal();
  if (edited != null) return;
  let found = null;
  const said = await outcome(brain.getForDialog(`${PATH}/${encodeURIComponent(name)}`), (answer) => ((found = answer), ""));
  say(said);
  if (found == null) return;
  edited = found;
  box().value = found.text;
  box().disabled = false;
  byId("policy-try").disabled = false;
  box().focus();
  box().setSelectionRange(0, 0);
}

const question = (typed) => ({ text: typed, version: edited.version, name: edited.name });

/** Go to the line that *said* names. */
function goToFault(said) {
  const line = faultyLine(said);
  if (line == null) return;
  const area = box();
  area.focus();
  area.setSelectionRange(...lineIn(area.value, line));
  const height = area.scrollHeight / Math.max(1, area.value.split("\n").length);
  area.scrollTop = Math.max(0, height * line - area.clientHeight / 2);
}

async function tryIt() {
  const typed = box().value;
  showLines(byId("policy-lines"), []);
  say("…");
  const said = await outcome(brain.post(`${PATH}/preview`, question(typed)), (answer) => {
    showLines(byId("policy-lines"), previewLines(answer));
    // Somebody may have typed on meanwhile.
    if (box().value === typed) tried = typed;
    return "";
  });
  byId("policy-save").disabled = tried == null;
  say(said);
  goToFault(said);
}

/** *saved* is called once the brain has it. */
export function listenToEditor(saved) {
  byId("policy-new").addEventListener("click", () => editPolicy());
  byId("policy-try").addEventListener("click", tryIt);
  box().addEventListener("input", untried);
  byId("policy").addEventListener("cancel", (event) => {
    if (edited == null || box().value === edited.text) return;
    event.preventDefault();
    say("This is not saved: “Leave it” drops what you typed.");
  });
  byId("policy-save").addEventListener("click", async () => {
    if (tried == null) return;
    const body = question(tried);
    untried();
    const said = await outcome(brain.post(PATH, body), (answer) => {
      byId("policy").close();
      text(byId("list-outcome"), `${visible(answer.name)}: ${answer.outcome}`);
      return "";
    });
    say(said);
    if (said === "") saved();
  });
}
