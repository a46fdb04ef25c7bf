"""Variables whose value is `nemu_env_<hash>` come from Vault: their token is a reference to a secret.

The reference goes where a pod declares its variables itself, in the annotation `nemutator.io/env.NAME`, and
the variable leaves the spec: nemutator-exec puts it there when the container starts, so no value ever
stands in a spec. Where a container is not started so, its placeholder stays as it is.
"""

from collections.abc import Callable, Mapping

from nemutator_common import names
from nemutator_common.declarations import (
    DeclarationError,
    Reference,
    from_volume,
)

from nemutator_controller.mutations.edits import Author, Draft
from nemutator_controller.mutations.exec_commands import PROGRAM
from nemutator_controller.mutations.known_tokens import (
    POLICY,
    KnownTokens,
    NoValueError,
    Unresolved,
    value_of,
)
from nemutator_controller.mutations.paths import Json, Path, annotation, field_path, named
from nemutator_controller.mutations.placeholders import (
    REFERENCE,
    VARIABLES_VERB,
    PlaceholderVariable,
    author_of,
    bad_reference,
    check_only,
    variables_of,
)
from nemutator_controller.mutations.qos import containers
from nemutator_controller.mutations.variable_uses import uses

_NOT_STARTED = NoValueError(
    "not_injected",
    "a reference to Vault needs a pod that is injected, and a `command` that nemutator-exec can start",
)
_TAKEN = NoValueError("unfit", "this variable of the pod, or of a container, comes from elsewhere")
_USED = NoValueError("unfit", "`$(NAME)` in its container needs it, and kubelet knows no secret")
_TAKEN_BACK = NoValueError("kept", "somebody has taken that back for this workload")


def replace_references(
    draft: Draft, tokens: KnownTokens, inject: Callable[[Draft], object]
) -> list[Unresolved]:
    """Declare in *draft* what its containers will be started with; *inject* is tried on another draft."""
    wanted = [each for each in variables_of(draft) if each.placeholder.startswith(REFERENCE)]
    if not wanted:
        return []
    trial = draft.further()
    references: dict[PlaceholderVariable, str] = {}
    unresolved: list[Unresolved] = []
    for each in wanted:
        try:
            references[each] = _declared(trial, each, tokens)
        except NoValueError as error:
            unresolved.append(error.at(each.item, each.placeholder))
    if references:
        inject(trial)
    delivered, taken = _delivered(trial), _taken(trial)
    for each, reference in references.items():
        if not _starts(trial, each) or str(delivered.get(each.name)) != reference:
            unresolved.append(_NOT_STARTED.at(each.item, each.placeholder))
        elif each.name in taken:
            unresolved.append(_TAKEN.at(each.item, each.placeholder))
        else:
            author = author_of(draft, each.item, VARIABLES_VERB, tokens, each.placeholder)
            _declare(draft, each, reference, author)
    return unresolved


def _declared(trial: Draft, variable: PlaceholderVariable, tokens: KnownTokens) -> str:
    """The reference that *variable* stands for, which is then declared in *trial*."""
    check_only(variable)
    for container in trial.value(named(variable.field, variable.container)):
        if variable.name in uses(container):
            raise _USED
    reference = value_of(tokens, variable.placeholder, bad_reference)
    if trial.value(_annotation(variable.name)) not in ((), (reference,)):
        raise _TAKEN
    _declare(trial, variable, reference, Author(VARIABLES_VERB, POLICY))
    if not trial.value(_annotation(variable.name)) or trial.value(variable.item):
        raise _TAKEN_BACK
    return reference


def _declare(draft: Draft, variable: PlaceholderVariable, reference: str, author: Author) -> None:
    draft.set(_annotation(variable.name), reference, author)
    draft.put(variable.item, (), author)


def _annotation(variable: str) -> Path:
    return annotation(f"{names.ENVIRONMENT_PREFIX}{variable}")


def _starts(trial: Draft, variable: PlaceholderVariable) -> bool:
    command = trial.value(named(variable.field, variable.container) / "command")
    return _is_started({"command": command[0] if command else None})


def _is_started(container: Mapping[str, Json]) -> bool:
    return bool((container.get("command") or [None])[0] == PROGRAM)


def _taken(trial: Draft) -> frozenset[str]:
    """The variables of containers that are started so, in whose place others would be."""
    return frozenset(
        name
        for container in containers(trial.manifest, trial.kind)
        if _is_started(container)
        for each in container.get("env") or ()
        if isinstance(each, dict) and isinstance(name := each.get("name"), str)
    )


def _delivered(trial: Draft) -> Mapping[str, Reference]:
    """What the volume that kubelet hands to the agent declares."""
    for listed in trial.value(field_path("volumes")):
        for volume in listed or ():
            csi = volume.get("csi") if isinstance(volume, dict) else None
            if isinstance(csi, dict) and csi.get("driver") == names.CSI_DRIVER:
                return _environment(csi.get("volumeAttributes"))
    return {}


def _environment(attributes: Json) -> Mapping[str, Reference]:
    try:
        return from_volume(attributes or {}).environment
    except (DeclarationError, AttributeError, TypeError):
        return {}
