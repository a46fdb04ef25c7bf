"""The verb `sidecars`: containers that start before a pod's own ones, and run as long as these.

They are init containers that are restarted always, so they do not keep a Job from its end. They are added before
any other verb is followed, so that images, variables and defaults of all policies reach them. Each is written as
an API server stores it, with the defaults that it would add: so it can be told later that nobody has changed it.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import msgspec

from nemutator_controller.kube.quantities import LONGEST, parse_quantity
from nemutator_controller.mutations.advisor import Name
from nemutator_controller.mutations.edits import Author, Draft
from nemutator_controller.mutations.env import VARIABLE
from nemutator_controller.mutations.image_references import IMAGE, usual_pull_policy
from nemutator_controller.mutations.injection import INIT_CONTAINER
from nemutator_controller.mutations.paths import Json, Path, field_path, named
from nemutator_controller.mutations.resource_bounds import broken_by, own_bounds
from nemutator_controller.mutations.resources import QUANTITY
from nemutator_controller.mutations.volumes import LABEL, MOUNT_PATH

VERB = "sidecars"

MOST = 8

ItemName = Annotated[str, msgspec.Meta(pattern=LABEL, max_length=63)]
Word = Annotated[str, msgspec.Meta(max_length=1024)]
Words = Annotated[tuple[Word, ...], msgspec.Meta(max_length=64)]
AmountText = Annotated[str, msgspec.Meta(pattern=QUANTITY.pattern, max_length=LONGEST)]


class SidecarVariable(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    name: Annotated[str, msgspec.Meta(pattern=VARIABLE.pattern, max_length=128)]
    value: Word


class SidecarMount(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, rename="camel"
):
    name: ItemName
    """Of a volume of the pod."""
    mount_path: Annotated[str, msgspec.Meta(pattern=MOUNT_PATH, max_length=1024)]


class Sidecar(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, rename="camel"
):
    name: ItemName
    image: Annotated[str, msgspec.Meta(min_length=1, max_length=1024)]
    command: Words = ()
    args: Words = ()
    env: Annotated[tuple[SidecarVariable, ...], msgspec.Meta(max_length=32)] = ()
    requests: Mapping[Name, AmountText] = {}
    limits: Mapping[Name, AmountText] = {}
    volume_mounts: Annotated[tuple[SidecarMount, ...], msgspec.Meta(max_length=16)] = ()

    def in_a_pod(self) -> Any:
        resources = {"requests": {**self.limits, **self.requests}, "limits": dict(self.limits)}
        parts: dict[str, Any] = {
            "command": list(self.command),
            "args": list(self.args),
            "env": [
                {"name": each.name} | ({"value": each.value} if each.value else {})
                for each in self.env
            ],
            "volumeMounts": [
                {"name": each.name, "mountPath": each.mount_path} for each in self.volume_mounts
            ],
        }
        return {
            "name": self.name,
            "image": self.image,
            "restartPolicy": "Always",
            **{field: part for field, part in parts.items() if part},
            "resources": {side: amounts for side, amounts in resources.items() if amounts},
            "imagePullPolicy": usual_pull_policy(self.image),
            "terminationMessagePath": "/dev/termination-log",
            "terminationMessagePolicy": "File",
        }


class Sidecars(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    add: Annotated[tuple[Sidecar, ...], msgspec.Meta(min_length=1, max_length=MOST)]
    """Where the pod has no container of that name."""


def apply(draft: Draft, wanted: Sidecars, *, policy: str) -> list[str]:
    """The warnings say what the policy wants and was not done."""
    warnings: list[str] = []
    # Each goes before those that are there.
    for each in reversed(wanted.add):
        place = named("initContainers", each.name)
        if draft.value(place) or draft.value(named("containers", each.name)):
            continue
        container = each.in_a_pod()
        if why := _breaks(draft, place, container):
            warnings.append(f"policy {policy}: {place}: left alone: {why}")
        else:
            draft.set(place, container, Author(VERB, policy))
    return warnings


def _breaks(draft: Draft, place: Path, container: Json) -> str:
    """What the pod sets for all its containers together and would not hold to with this one, for which an API server
    refuses a pod; empty: nothing."""
    own = own_bounds(draft.manifest, draft.kind)
    if not own:
        return ""
    beside = draft.further()
    beside.set(place, container, Author(VERB, ""))
    before = broken_by(draft.manifest, draft.kind, {}, own)
    broken = broken_by(beside.manifest, draft.kind, {}, own)
    return next((why for bound, why in broken.items() if bound not in before), "")


def without_volumes(draft: Draft) -> list[str]:
    """Take out again those that mount what the pod has not got in the end: an API server would refuse it. The warnings
    name them."""
    listed = (each for found in draft.value(field_path("volumes")) for each in found or ())
    volumes = {each.get("name") for each in listed if isinstance(each, dict)}
    warnings: list[str] = []
    for container in [
        each for found in draft.value(field_path("initContainers")) for each in found or ()
    ]:
        name = container.get("name") if isinstance(container, dict) else None
        place = named("initContainers", name) if isinstance(name, str) else None
        author = draft.author(place) if place is not None else None
        if place is None or author is None or author.verb != VERB:
            continue
        mounted = [mount["name"] for mount in container.get("volumeMounts", ())]
        missing = next((each for each in mounted if each not in volumes), None)
        if missing is not None:
            draft.put(place, (), author)
            warnings.append(
                f"policy {author.policy}: {place}: left alone: the pod has no volume {missing}"
            )
    return warnings


def faults(wanted: Sidecars) -> Iterator[str]:
    names = [each.name for each in wanted.add]
    for index, each in enumerate(wanted.add):
        where = f"add[{index}]"
        if names.count(each.name) > 1:
            yield f"{where}.name: there are two of that name"
        if not IMAGE.fullmatch(each.image):
            yield f"{where}.image: {each.image[:80]!r}: expected registry/repository:tag@digest"
        paths = [mount.mount_path for mount in each.volume_mounts]
        if len(set(paths)) < len(paths):
            yield f"{where}.volumeMounts: two have the same mountPath"
        if each.name == INIT_CONTAINER:
            yield f"{where}.name: {INIT_CONTAINER} is nemutator's own"
        for resource, amount in each.requests.items():
            limit = each.limits.get(resource)
            if limit is not None and parse_quantity(amount) > parse_quantity(limit):
                yield f"{where}.requests.{resource}: above its limit"
