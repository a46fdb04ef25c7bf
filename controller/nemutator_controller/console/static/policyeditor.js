// The dialog in which a policy is edited: tried first, and saved as it was tried.

import * as brain from "./brain.js";
import { byId, text } from "./dom.js";
import { showLines } from "./details.js";
import { visible } from "./format.js";
import { NEW, previewLines, request } from "./policies.js";
import { outcome } from "./takingback.js";

const PATH = "/api/v1/policies";

/** The policy that is edited, as it was read. */
let edited = NEW;
/** The text whose preview is shown; null: none is. */
let tried = null;

const box = () => byId("policy-text");

function untried() {
  tried = null;
  byId("policy-save").disabled = true;
}

export function editPolicy(policy = NEW) {
  edited = policy;
  untried();
  text(byId("policy-title"), policy.name ? `Edit the policy ${visible(policy.name)}` : "New policy");
  box().value = policy.text;
  showLines(byId("policy-lines"), []);
  text(byId("policy-outcome"), "");
  byId("policy").showModal();
}

async function tryIt() {
  const typed = box().value;
  const { body, fault } = request(typed, edited);
  showLines(byId("policy-lines"), []);
  if (fault) return text(byId("policy-outcome"), fault);
  text(byId("policy-outcome"), "…");
  const said = await outcome(brain.post(`${PATH}/preview`, body), (answer) => {
    showLines(byId("policy-lines"), previewLines(answer, body.document?.spec?.mode));
    // Somebody may have typed on meanwhile.
    if (box().value === typed) tried = typed;
    return "";
  });
  byId("policy-save").disabled = tried == null;
  return text(byId("policy-outcome"), said);
}

/** *saved* is called once the brain has it. */
export function listenToEditor(saved) {
  byId("policy-new").addEventListener("click", () => editPolicy());
  byId("policy-try").addEventListener("click", tryIt);
  box().addEventListener("input", untried);
  byId("policy-save").addEventListener("click", async () => {
    if (tried == null) return;
    const { body } = request(tried, edited);
    untried();
    const said = await outcome(brain.post(PATH, body), (answer) => {
      byId("policy").close();
      text(byId("list-outcome"), `${visible(answer.name)}: ${answer.outcome}`);
      return "";
    });
    text(byId("policy-outcome"), said);
    if (said === "") saved();
  });
}
