"""The verb `env`: variables of containers, in their order.

A variable that stands there with `valueFrom` keeps it. What comes from a secret is never written as a
value: it is declared by an annotation, and the container is started with it (`exec_commands.py`).
"""

import functools
import re
from collections.abc import Iterator, Mapping
from typing import Annotated

import msgspec
from nemutator_common import names
from nemutator_common.declarations import is_variable, parse_reference

from nemutator_controller.mutations.chosen_containers import Globs, chosen
from nemutator_controller.mutations.chosen_names import NAME
from nemutator_controller.mutations.edits import Author, Draft
from nemutator_controller.mutations.paths import ItemStep, Json, Path, annotation
from nemutator_controller.mutations.variable_uses import used, uses

VERB = "env"

MOST = 32
LONGEST_VALUE = 1024

VARIABLE = re.compile(r"^[A-Za-z_][A-Za-z0-9_]{0,127}$")

_FOLDER = "[A-Za-z0-9_-][A-Za-z0-9._-]*"
REFERENCE = re.compile(rf"^{_FOLDER}(/{_FOLDER})+#[A-Za-z0-9._-]+$")
"""A secret in Vault, as the pod's own annotations name it."""

SECRET_LIKE = re.compile(r"^((>>)?vault:.*|[\w.-]+(/[\w.-]+)+#[\w.-]+)$", re.ASCII | re.DOTALL)
"""What other injectors, or we, would replace by a secret: as a value it would be of no use. It is short,
because an API server counts each character of it."""

FIELD_PATH = re.compile(
    r"^(metadata\.(name|namespace|uid)|spec\.(nodeName|serviceAccountName)|status\.(hostIPs?|podIPs?)"
    r"|metadata\.(labels|annotations)\['([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?"
    r"([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]'\])$"
)
"""What an API server lets a variable have of its own pod."""

SOURCE_KEY = re.compile(r"^([-_a-zA-Z0-9]|\.[-_a-zA-Z0-9])[-._a-zA-Z0-9]*$")
"""A key of a ConfigMap or Secret: neither `.` nor anything that begins with `..`."""

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=128)]
Text = Annotated[str, msgspec.Meta(min_length=1, max_length=253)]


class FieldSource(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, rename="camel"
):
    field_path: Text


class KeySource(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    name: Text
    key: Text
    optional: bool = False


class ValueSource(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, rename="camel"
):
    """As in a pod: exactly one."""

    field_ref: FieldSource | None = None
    config_map_key_ref: KeySource | None = None
    secret_key_ref: KeySource | None = None


class Variable(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, rename="camel"
):
    """Exactly one of the last three."""

    name: Name
    value: Annotated[str, msgspec.Meta(max_length=LONGEST_VALUE)] | None = None
    value_from: ValueSource | None = None
    secret: Annotated[str, msgspec.Meta(min_length=1, max_length=512)] | None = None
    """A reference to Vault. The pod declares it by an annotation, and must be injected."""

    def in_a_pod(self) -> Json:
        """As an API server stores it, so that it is found again."""
        source = self.value_from
        if source is None:
            return {"name": self.name, "value": self.value}
        if source.field_ref is not None:
            path = source.field_ref.field_path
            made: Json = {"fieldRef": {"apiVersion": "v1", "fieldPath": path}}
        elif source.config_map_key_ref is not None:
            made = {"configMapKeyRef": _key_in_a_pod(source.config_map_key_ref)}
        else:
            assert source.secret_key_ref is not None, "a policy with faults is not applied"
            made = {"secretKeyRef": _key_in_a_pod(source.secret_key_ref)}
        return {"name": self.name, "valueFrom": made}


Variables = Annotated[tuple[Variable, ...], msgspec.Meta(max_length=MOST)]


class EnvRules(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    containers: Globs = ("*",)
    set: Variables = ()
    """Replaces a value in its place, but no `valueFrom`."""
    add: Variables = ()
    """At the end, where none of that name stands."""
    remove: Annotated[tuple[Name, ...], msgspec.Meta(max_length=MOST)] = ()


def apply(draft: Draft, rules: EnvRules, *, policy: str) -> list[str]:
    author = Author(VERB, policy)
    _declare(draft, rules, author)
    warnings: list[str] = []
    for path, container in chosen(draft, rules.containers):
        found = _Found(path / VERB, container)
        for name in rules.remove:
            if why := found.why_kept(name):
                warnings.append(f"policy {policy}: {found.path(name)}: left alone: {why}")
            else:
                draft.put(found.path(name), (), author)
        for variable in rules.set:
            items = found.items(variable.name)
            if variable.secret is not None:
                continue
            if any(item.get("valueFrom") for item in items):
                kept = f"policy {policy}: {found.path(variable.name)}: left alone: it has valueFrom"
                warnings += [kept] if items != [variable.in_a_pod()] else []
            elif len(items) > 1:
                # The last one counts, and a path leads to the first.
                twice = f"policy {policy}: {found.path(variable.name)}: left alone: it stands there twice"
                warnings += [twice] if items[-1] != variable.in_a_pod() else []
            else:
                draft.set(found.path(variable.name), variable.in_a_pod(), author)
        for variable in rules.add:
            path_of = found.path(variable.name)
            if variable.secret is None and not draft.value(path_of):
                draft.set(path_of, variable.in_a_pod(), author)
    return warnings


class _Found:
    """The variables that a container had."""

    def __init__(self, path: Path, container: Json) -> None:
        self._path = path
        self._container = container
        self._listed = [each for each in container.get(VERB) or () if isinstance(each, dict)]

    def path(self, name: str) -> Path:
        return self._path / ItemStep("name", name)

    def items(self, name: str) -> list[Json]:
        return [each for each in self._listed if each.get("name") == name]

    def why_kept(self, name: str) -> str:
        """Why *name* is not removed. What is put back is at the end, and what uses it would not work without."""
        places = [at for at, each in enumerate(self._listed) if each.get("name") == name]
        if len(places) > 1:
            return "it stands there twice"
        for at in places:
            later = {each.get("name") for each in self._listed[at + 1 :]}
            if later & used(self._listed[at].get("value")):
                return "it refers to one that comes later"
        if places and (by := self._uses.get(name)):
            return f"{by} refers to it"
        return ""

    @functools.cached_property
    def _uses(self) -> Mapping[str, str]:
        return uses(self._container)


def faults(rules: EnvRules) -> Iterator[str]:
    if not rules.set and not rules.add and not rules.remove:
        yield "set: name at least one here, in add or in remove"
    for field, variables in (("set", rules.set), ("add", rules.add)):
        for index, each in enumerate(variables):
            yield from (f"{field}[{index}]{fault}" for fault in _variable_faults(each))
    for index, name in enumerate(rules.remove):
        if not VARIABLE.fullmatch(name):
            yield f"remove[{index}]: expected the name of a variable"
    given = [each.name for each in (*rules.set, *rules.add)] + list(rules.remove)
    if len(set(given)) < len(given):
        yield "set: the same name stands twice among set, add and remove"


def _variable_faults(variable: Variable) -> Iterator[str]:
    sources = (variable.value, variable.value_from, variable.secret)
    if sum(each is not None for each in sources) != 1:
        yield ": expected exactly one of value, valueFrom, secret"
    if not VARIABLE.fullmatch(variable.name) or not is_variable(variable.name):
        yield ".name: expected the name of a variable: letters, digits, _"
    if variable.value is not None and SECRET_LIKE.fullmatch(variable.value):
        yield ".value: this looks like a reference to a secret: write it in `secret`"
    if variable.secret is not None and not _is_reference(variable.secret):
        yield ".secret: expected mount/path#key, like secret/app/db#password"
    if variable.value_from is not None:
        source = variable.value_from
        given = (source.field_ref, source.config_map_key_ref, source.secret_key_ref)
        if sum(each is not None for each in given) != 1:
            yield ".valueFrom: expected exactly one of fieldRef, configMapKeyRef, secretKeyRef"
        yield from (f".valueFrom{fault}" for fault in _source_faults(source))


def _source_faults(source: ValueSource) -> Iterator[str]:
    """An API server refuses each pod with such a variable."""
    field_ref = source.field_ref
    if field_ref is not None and not FIELD_PATH.fullmatch(field_ref.field_path):
        yield (
            f".fieldRef.fieldPath: {field_ref.field_path[:80]!r}: expected a field of the pod like metadata.name, spec.nodeName,"
            " status.podIP or metadata.labels['app']"
        )
    for field, ref in (
        ("configMapKeyRef", source.config_map_key_ref),
        ("secretKeyRef", source.secret_key_ref),
    ):
        if ref is not None and not NAME.fullmatch(ref.name):
            yield f".{field}.name: {ref.name[:80]!r}: expected small letters, digits, dots and dashes"
        if ref is not None and not SOURCE_KEY.fullmatch(ref.key):
            yield f".{field}.key: {ref.key[:80]!r}: expected letters, digits, - _ ."


def _is_reference(text: str) -> bool:
    try:
        parse_reference(text)
    except ValueError:
        return False
    return REFERENCE.fullmatch(text) is not None


def _declare(draft: Draft, rules: EnvRules, author: Author) -> None:
    for variable in rules.set:
        if variable.secret is not None:
            draft.set(_declaration(variable.name), variable.secret, author)
    for variable in rules.add:
        if variable.secret is not None and not draft.value(_declaration(variable.name)):
            draft.set(_declaration(variable.name), variable.secret, author)


def _declaration(name: str) -> Path:
    return annotation(f"{names.ENVIRONMENT_PREFIX}{name}")


def _key_in_a_pod(source: KeySource) -> Json:
    made: dict[str, Json] = {"name": source.name, "key": source.key}
    return made | ({"optional": True} if source.optional else {})
