"""A pod, a policy and a situation, for tests of plans."""

from typing import Any

from msgspec.structs import replace
from nemutator_controller.mutations.decisions import Subject
from nemutator_controller.mutations.edits import apply_edits
from nemutator_controller.mutations.injection import Injector
from nemutator_controller.mutations.stamps import merged, stamp_of, stamp_path, written
from nemutator_controller.policies.model import Policy, policy_of
from nemutator_controller.policies.plans import MutationPlan, Situation, plan

from tests.controller.mutations.pods import Json, edit

INJECTOR = Injector("nemutator/agent:1")
ENABLED = {"nemutator.io/inject": "enabled"}
INIT = "initContainers[name=nemutator-init]"


def situation(kind: str = "Pod", **changed: Any) -> Situation:
    subject = Subject(api_version="v1", kind=kind, namespace="default", name="web")
    return replace(Situation(subject=subject, namespace_labels={}, injector=INJECTOR), **changed)


def policy(name: str, *mutations: Json, mode: str = "Apply", match: Json = None) -> Policy:
    return policy_of(name, {"mode": mode, "mutations": list(mutations), "match": match or {}})


def with_image(image: str) -> Json:
    manifest = pod()
    manifest["spec"]["containers"][0]["image"] = image
    return manifest


def labelled(name: str, value: str, **more: Any) -> Policy:
    return policy(name, {"labels": {"set": {"team": value}}}, **more)


def pod(labels: Json = None, annotations: Json = None) -> Json:
    return {
        "metadata": {"name": "web", "labels": labels, "annotations": annotations},
        "spec": {"containers": [{"name": "app", "resources": {"requests": {"cpu": "1"}}}]},
    }


def paths(planned: MutationPlan) -> list[str]:
    return [edit.path for edit in planned.edits]


def done_once(manifest: Json, here: Situation, policies: list[Policy]) -> Json:
    """*manifest* with its plan and its stamp, as it comes out of admission."""
    kind = here.subject.kind
    planned = plan(manifest, here, policies)
    stamp = written(merged(stamp_of(manifest, kind), "id", planned.edits))
    return apply_edits(manifest, [*planned.edits, edit(str(stamp_path(kind)), None, stamp)], kind)
