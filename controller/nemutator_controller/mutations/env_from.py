"""The verb `envFrom`: all variables of a ConfigMap or Secret, for containers."""

from collections.abc import Iterator
from typing import Annotated, Any

import msgspec

from nemutator_controller.mutations.chosen_containers import Globs, chosen
from nemutator_controller.mutations.chosen_names import ObjectName, is_name
from nemutator_controller.mutations.edits import Author, Draft
from nemutator_controller.mutations.paths import whole

VERB = "envFrom"

MOST = 16


class VariableSource(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, rename="camel"
):
    """Exactly one of both names."""

    config_map: ObjectName | None = None
    secret: ObjectName | None = None
    prefix: Annotated[str, msgspec.Meta(max_length=64)] = ""
    """Of the variables' names."""
    optional: bool = False
    """Whether a container starts without it."""

    def in_a_pod(self) -> Any:
        field, name = (
            ("configMapRef", self.config_map) if self.config_map else ("secretRef", self.secret)
        )
        made: dict[str, Any] = {
            field: {"name": name} | ({"optional": True} if self.optional else {})
        }
        return made | ({"prefix": self.prefix} if self.prefix else {})


class VariableSources(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    add: Annotated[tuple[VariableSource, ...], msgspec.Meta(min_length=1, max_length=MOST)]
    """Where the container has none of the same name and prefix."""
    containers: Globs = ("*",)


def apply(draft: Draft, wanted: VariableSources, *, policy: str) -> None:
    for path, container in list(chosen(draft, wanted.containers)):
        listed = container.get(VERB)
        known = [_identity(each) for each in (listed if isinstance(listed, list) else ())]
        for each in wanted.add:
            item = each.in_a_pod()
            if _identity(item) not in known:
                known.append(_identity(item))
                draft.set(whole(path / VERB, item), item, Author(VERB, policy))


def faults(wanted: VariableSources) -> Iterator[str]:
    for index, each in enumerate(wanted.add):
        if (each.config_map is None) == (each.secret is None):
            yield f"add[{index}]: expected exactly one of configMap, secret"
        elif not is_name(each.config_map or each.secret or ""):
            yield f"add[{index}]: expected small letters, digits, dots and dashes"


def _identity(item: Any) -> tuple[Any, ...]:
    if not isinstance(item, dict):
        return ()
    refs = (item.get(field) for field in ("configMapRef", "secretRef"))
    return (
        *(ref.get("name") if isinstance(ref, dict) else None for ref in refs),
        item.get("prefix") or "",
    )
