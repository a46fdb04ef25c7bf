"""The verb `securityContext`: as whom a pod runs and what it may, where its author has said nothing."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import msgspec

from nemutator_controller.mutations.chosen_containers import Globs, chosen
from nemutator_controller.mutations.edits import Author, Draft
from nemutator_controller.mutations.paths import Json, field_path

VERB = "securityContext"

_FIELD = field_path(VERB)

Id = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
Capability = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
Capabilities = Annotated[tuple[Capability, ...], msgspec.Meta(min_length=1, max_length=64)]

_MAY_EVERYTHING = frozenset({"SYS_ADMIN", "CAP_SYS_ADMIN"})


class SeccompProfile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    type: Literal["RuntimeDefault", "Unconfined"]


class DroppedCapabilities(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    drop: Capabilities


class PodSecurity(
    msgspec.Struct,
    frozen=True,
    forbid_unknown_fields=True,
    kw_only=True,
    rename="camel",
    omit_defaults=True,
):
    run_as_non_root: bool | None = None
    run_as_user: Id | None = None
    run_as_group: Id | None = None
    fs_group: Id | None = None
    fs_group_change_policy: Literal["Always", "OnRootMismatch"] | None = None
    seccomp_profile: SeccompProfile | None = None


class ContainerSecurity(
    msgspec.Struct,
    frozen=True,
    forbid_unknown_fields=True,
    kw_only=True,
    rename="camel",
    omit_defaults=True,
):
    run_as_non_root: bool | None = None
    run_as_user: Id | None = None
    run_as_group: Id | None = None
    allow_privilege_escalation: bool | None = None
    privileged: bool | None = None
    read_only_root_filesystem: bool | None = None
    capabilities: DroppedCapabilities | None = None
    seccomp_profile: SeccompProfile | None = None


class SecurityDefaults(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    pod: PodSecurity | None = None
    containers: Globs = ("*",)
    container: ContainerSecurity | None = None
    """For each of the chosen containers. What the pod says holds for them, too."""


def apply(draft: Draft, defaults: SecurityDefaults, *, policy: str) -> list[str]:
    author = Author(VERB, policy)
    if "windows" in draft.value(field_path("os", "name")):
        return [f"policy {policy}: {VERB}: left alone: this is a pod for Windows"]
    warnings: list[str] = []
    pod = _object(draft.value(_FIELD))
    roots = [path for path, each in chosen(draft, ("*",)) if _is_root(_object((each.get(VERB),)))]
    for field, value in _given(defaults.pod).items():
        if _is_said(pod.get(field)):
            continue
        if field == "runAsNonRoot" and value and roots:
            warnings.append(
                f"policy {policy}: {_FIELD}.{field}: left alone: {roots[0]} is for root"
            )
        elif why := _impossible(field, value, pod):
            warnings.append(f"policy {policy}: {_FIELD}.{field}: left alone: {why}")
        else:
            draft.set(_FIELD / field, value, author)
    pod = _object(draft.value(_FIELD))
    for path, container in chosen(draft, defaults.containers):
        own = _object((container.get(VERB),))
        for field, value in _given(defaults.container).items():
            # What a container says would win over what its pod says.
            if _is_said(own.get(field)) or _is_said(pod.get(field)):
                continue
            if why := _impossible(field, value, {**pod, **own}):
                warnings.append(f"policy {policy}: {path / VERB / field}: left alone: {why}")
            else:
                draft.set(path / VERB / field, value, author)
    return warnings


def faults(defaults: SecurityDefaults) -> Iterator[str]:
    for field, wanted in (("pod", defaults.pod), ("container", defaults.container)):
        if wanted is not None and not _given(wanted):
            yield f"{field}: name at least one field"
    if defaults.pod is None and defaults.container is None:
        yield "pod: name at least one field here or in container"


def _given(wanted: PodSecurity | ContainerSecurity | None) -> Mapping[str, Any]:
    made: dict[str, Any] = {} if wanted is None else msgspec.to_builtins(wanted)
    if "capabilities" in made:
        made["capabilities"] = {"drop": list(made["capabilities"]["drop"])}
    return made


def _impossible(field: str, value: Json, said: Mapping[str, Json]) -> str:
    """Why an API server or kubelet would refuse the pod, with what is *said* beside it."""
    if field == "runAsNonRoot" and value and said.get("runAsUser") == 0:
        return "runAsUser is 0"
    if field == "runAsUser" and value == 0 and said.get("runAsNonRoot"):
        return "runAsNonRoot is true"
    if field == "allowPrivilegeEscalation" and not value:
        if said.get("privileged"):
            return "it is privileged"
        added = _object((said.get("capabilities"),)).get("add") or ()
        if not _MAY_EVERYTHING.isdisjoint(each for each in added if isinstance(each, str)):
            return "it has the capability SYS_ADMIN"
    if field == "privileged" and value and said.get("allowPrivilegeEscalation") is False:
        return "allowPrivilegeEscalation is false"
    return ""


def _is_said(value: Json) -> bool:
    """Charts write `capabilities: {}` where nobody has said anything."""
    return any(value.values()) if isinstance(value, dict) else value is not None


def _is_root(said: Mapping[str, Json]) -> bool:
    return said.get("runAsUser") == 0 and not said.get("runAsNonRoot")


def _object(found: tuple[Json, ...]) -> Mapping[str, Json]:
    return found[0] if found and isinstance(found[0], dict) else {}
