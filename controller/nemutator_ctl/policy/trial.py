"""What policies would change in manifests, as a diff: the plan that admission makes, for files."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from nemutator_common.errors import ExitCode, OperatorError
from nemutator_controller.admission.outcomes import NEVER
from nemutator_controller.admission.subjects import is_mirror
from nemutator_controller.journal.manifests import Manifest, ManifestError, manifest_of
from nemutator_controller.mutations.edits import TooLargeError
from nemutator_controller.mutations.known_tokens import LONGEST_KEY, LONGEST_VALUE, KnownTokens
from nemutator_controller.mutations.labels import POD
from nemutator_controller.mutations.paths import TEMPLATES, PathError
from nemutator_controller.policies.model import GROUP, KIND
from nemutator_controller.policies.plans import MutationPlan, Situation, plan
from nemutator_controller.policies.snapshot import Policies, snapshot_of
from nemutator_controller.tokens.model import is_key, is_value, table_of
from nemutator_controller.yaml_documents import DocumentError, parsed

from nemutator_ctl.documents import called, unlisted
from nemutator_ctl.edits import ShownEdit, diff
from nemutator_ctl.terminal_text import visible

WIDTH = 300
OWN_NAMESPACE = "nemutator"
"""As the manifests and the chart have it."""
REMEDY = "correct that field and try again"


@dataclass(frozen=True, slots=True)
class InputFile:
    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class TrialResult:
    text: str
    faults: tuple[str, ...]
    """What must be corrected: file, field and what was expected."""


def tokens_in(file: InputFile) -> KnownTokens:
    """The tokens that *file* maps their keys to, or an `OperatorError`."""
    try:
        documents = parsed(file.content) or ({},)
        table = table_of(documents[0]) if len(documents) == 1 else None
        why = "" if table is None else _first_left_out(documents[0])
    except DocumentError as error:
        table, why = None, str(error)
    if table is None or table.left_out:
        expected = (
            f"expected one map of keys like nemu_label_value_team to text of at most {LONGEST_VALUE}"
            " bytes"
        )
        said = visible("; ".join(filter(None, (why, expected))), limit=WIDTH)
        raise OperatorError(
            f"{visible(file.name, limit=120)}: {said}", remedy=REMEDY, code=ExitCode.USAGE
        )
    return KnownTokens(table.values)


def _first_left_out(document: Any) -> str:
    """What is the first in *document* that is no token, where any is."""
    for key, value in document.items():
        if not isinstance(key, str) or not is_key(key):
            return f"{str(key)[:LONGEST_KEY]!r} is no such key"
        if not is_value(value):
            said = (
                "is empty or too long"
                if isinstance(value, str)
                else "is no text, so write it in quotes"
            )
            return f"{key} {said}"
    return ""


def attempt(files: Sequence[InputFile], tokens: KnownTokens | None = None) -> TrialResult:
    """Plan every manifest in *files* with every policy in them, and with *tokens*."""
    faults: list[str] = []
    manifests: list[Manifest] = []
    others: list[str] = []
    for file in files:
        manifests += _manifests(file, faults, others)
    specs: dict[str, Any] = {
        each.subject.name: each.document.get("spec") for each in manifests if each.is_policy
    }
    policies = snapshot_of(specs)
    plain = [each for each in manifests if not each.is_policy]
    text = "".join(_planned(each, policies, tokens, faults) for each in plain)
    text += "".join(others)
    if not specs and not faults and tokens is None:
        faults.append("no policy among these files\n  remedy: name a file with a MutationPolicy")
    elif not plain and not others and not faults:
        count = "1 policy is" if len(specs) == 1 else f"{len(specs)} policies are"
        text += f"{count} sound; name manifests, too, to see what would change\n"
    return TrialResult(text, tuple(faults))


def _manifests(file: InputFile, faults: list[str], others: list[str]) -> Iterator[Manifest]:
    """Those in *file*; *others* gets what is said of the rest: a chart has Services beside its Deployments."""
    where = visible(file.name, limit=120)
    try:
        documents = list(unlisted(parsed(file.content)))
    except DocumentError as error:
        faults.append(f"{where}: {visible(str(error), limit=WIDTH)}\n  remedy: {REMEDY}")
        return
    for document in documents:
        if _is_other(document):
            others.append(
                f"{visible(called(document), limit=WIDTH)}\n  {_why_not_tried(document)}\n"
            )
            continue
        try:
            yield manifest_of(document, may_be_unnamed=True)
        except ManifestError as error:
            named = visible(f"{called(document)}: ", limit=120) if called(document) else ""
            faults += [
                f"{where}: {named}{visible(fault, limit=WIDTH)}\n  remedy: {REMEDY}"
                for fault in error.faults
            ]


def _is_other(document: Any) -> bool:
    """Whether it is an object of Kubernetes that neither is a pod, nor makes any, nor is ours."""
    if not called(document):
        return False
    api_version, kind = document.get("apiVersion"), document.get("kind")
    ours = str(api_version).startswith(f"{GROUP}/") or kind in (KIND, *TEMPLATES)
    return isinstance(api_version, str) and isinstance(kind, str) and not ours


def _why_not_tried(document: Any) -> str:
    # A cluster asks about pods, whoever makes them; how a stranger makes them is not known here.
    spec = document.get("spec")
    template = spec.get("template") if isinstance(spec, dict) else None
    if isinstance(template, dict) and isinstance(template.get("spec"), dict):
        return "not tried: its pods are changed as they are created; try its template as a Pod"
    return "no change: no pods are made of it"


def _why_never(manifest: Manifest) -> str:
    """Why no cluster asks admission about it; empty: one does."""
    if manifest.subject.namespace in (*NEVER, OWN_NAMESPACE):
        return f"policies are for no pod in {manifest.subject.namespace}"
    if manifest.subject.kind == POD and is_mirror(manifest.document):
        return "policies are for no pod that kubelet mirrors"
    return ""


def _planned(
    manifest: Manifest, policies: Policies, tokens: KnownTokens | None, faults: list[str]
) -> str:
    subject = manifest.subject
    name = subject.name or f"{subject.generate_name}…"
    head = visible(f"{subject.kind} {subject.namespace}/{name}", limit=WIDTH)
    if why := _why_never(manifest):
        return f"{head}\n  no change: {why}\n"
    labels = {"kubernetes.io/metadata.name": subject.namespace}
    situation = Situation(
        subject=subject,
        namespace_labels=labels,
        tokens=tokens,
        defaulted=False,
        pods_are_made=subject.kind != POD,
    )
    try:
        planned = plan(manifest.document, situation, policies.for_manifest(subject.kind))
    except TooLargeError as error:
        planned = MutationPlan(warnings=(f"left alone: {error}",))
    except (PathError, RecursionError) as error:
        faults.append(f"{head}: {visible(str(error), limit=WIDTH)}\n  remedy: {REMEDY}")
        return ""
    text = f"{head}\n"
    if planned.refused:
        text += f"  refused: {visible(planned.refused, limit=WIDTH)}\n"
    text += "".join(f"  warning: {visible(each, limit=WIDTH)}\n" for each in planned.warnings)
    offenders = (each.why for each in planned.offenders if each.result == "previewed")
    text += "".join(
        f"  preview only: {visible(why, limit=WIDTH)}\n"
        for why in (*planned.preview_warnings, *offenders)
    )
    for title, edits in (("", planned.edits), ("  preview only:\n", planned.previewed)):
        if edits:
            changes = (ShownEdit(e.path, e.before, e.after, e.policy, e.reason) for e in edits)
            text += title + diff(changes)
    if not planned.edits and not planned.previewed and not planned.offenders:
        text += "  no change\n"
    return text
