"""The verb `selectors`: by what a workload finds its pods, changed together with the labels of its template.

Only a workload that is being created can get another selector: the API server keeps the one of an
existing object. So what is applied again gets what its object has, and any other wish a warning.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated

import msgspec
from nemutator_common import names

from nemutator_controller.mutations import selector_tokens
from nemutator_controller.mutations.edits import Author, Draft
from nemutator_controller.mutations.known_tokens import KnownTokens, NoValueError
from nemutator_controller.mutations.paths import FieldStep, Json, KeyStep, Path, label, value_at
from nemutator_controller.mutations.texts import Key, is_label

VERB = "selectors"

KINDS = frozenset({"Deployment", "StatefulSet", "DaemonSet"})
"""Those whose selectors people write: the API server makes a Job's by itself."""

MOST = 16

WAY_OUT = (
    "an existing selector cannot be changed: delete it with --cascade=orphan and create it again"
)

_EXPRESSED = "{} stands in an expression, which is not changed: write it as one of matchLabels"

_SELECTOR = Path(tuple(map(FieldStep, ("workload", "spec", "selector"))))


class SelectorRules(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which keys of selectors are affected; all others stay."""

    rename: Annotated[Mapping[Key, Key], msgspec.Meta(max_length=MOST)] = {}
    """New keys, by the old ones."""
    set: Annotated[Mapping[Key, str], msgspec.Meta(max_length=MOST)] = {}
    """New values, by the keys as they are called then."""
    tokens: bool = False
    """Whether the token store says more of both, for the keys that it lists."""


def apply(
    draft: Draft,
    rules: SelectorRules,
    *,
    existing: Json,
    policy: str,
    tokens: KnownTokens | None = None,
) -> list[str]:
    """Write into *draft*; *existing*: the `matchLabels` of the object that there is, or None."""
    if draft.kind not in KINDS:
        return []
    warnings: list[str] = []
    if rules.tokens:
        rules, left = with_tokens(rules, tokens)
        warnings += (f"policy {policy}: selectors: {why}" for why in left)
    renamed = frozenset(rules.rename.values())
    for key in (*rules.rename, *(key for key in rules.set if key not in renamed)):
        new = rules.rename.get(key, key)
        found = draft.value(_match_label(key))
        if not found:
            if key in _expressed(draft):
                warnings.append(
                    f"policy {policy}: {_SELECTOR / 'matchExpressions'}: left alone: {_EXPRESSED.format(key)}"
                )
            continue
        value = rules.set.get(new, found[0])
        if (new, value) == (key, found[0]):
            continue
        why = _why_not(draft, key, new)
        if not why and existing is not None and not _has(existing, key, new, value):
            why = WAY_OUT
        if why:
            warnings.append(f"policy {policy}: {_match_label(key)}: left alone: {why}")
            continue
        author = Author(VERB, policy)
        for place in (_match_label, label):
            draft.set(place(new), value, author)
            if new != key:
                draft.put(place(key), (), author)
    return warnings


def match_labels(manifest: Json, kind: str) -> Json:
    """The `matchLabels` of a workload."""
    found = (
        value_at(manifest, _SELECTOR / "matchLabels", kind) if kind in KINDS and manifest else ()
    )
    return found[0] if found else None


def with_tokens(
    rules: SelectorRules, tokens: KnownTokens | None
) -> tuple[SelectorRules, list[str]]:
    """*rules* with what the token store says of keys that they do not name, and why it counts for nothing."""
    if tokens is None:
        return rules, ["there is no token store"]
    named = {*rules.rename, *rules.rename.values(), *rules.set}
    rename, values = dict(rules.rename), dict(rules.set)
    left: list[str] = []
    try:
        keys = [each for each in selector_tokens.listed(tokens) if each not in named]
        for key in keys:
            new = selector_tokens.found(tokens, f"{selector_tokens.KEYS}{key}")
            value = selector_tokens.found(tokens, f"{selector_tokens.VALUES}{key}")
            if new is not None and new != key:
                rename[key] = new
            if value is not None:
                values[new or key] = value
    except NoValueError as error:
        return rules, [str(error)]
    made = SelectorRules(rename=rename, set=values)
    left += faults(made) if rename or values else ()
    return (rules, [f"tokens: {why}" for why in left]) if left else (made, [])


def faults(rules: SelectorRules) -> Iterator[str]:
    if not rules.rename and not rules.set and not rules.tokens:
        yield "set: name at least one key here or in rename, or say tokens: true"
    for key, new in rules.rename.items():
        where = f"rename[{key[:80]}]"
        if not is_label(key, "") or not is_label(new, ""):
            yield f"{where}: expected keys of labels"
        elif new.startswith(f"{names.DOMAIN}/"):
            yield f"{where}: words of {names.DOMAIN} steer nemutator itself; use another key"
        elif new in rules.rename:
            yield f"{where}: {new[:80]} is renamed, too"
    if len(set(rules.rename.values())) < len(rules.rename):
        yield "rename: two keys get the same name"
    for key, value in rules.set.items():
        if not is_label(key, value):
            yield f"set[{key[:80]}]: expected a label's key and value"
        elif key in rules.rename:
            yield f"set[{key[:80]}]: it is renamed: name the new key"


def _why_not(draft: Draft, key: str, new: str) -> str:
    value = draft.value(_match_label(key))
    if draft.value(label(key)) != value:
        return "the template does not have the label"
    if _expressed(draft) & {key, new}:
        return "an expression of the selector asks for it, too"
    if new != key and (draft.value(_match_label(new)) or draft.value(label(new))):
        return f"{new} is there already"
    return ""


def _expressed(draft: Draft) -> frozenset[str]:
    """The keys of the selector's expressions."""
    listed = (each for found in draft.value(_SELECTOR / "matchExpressions") for each in found or ())
    keys = (each.get("key") for each in listed if isinstance(each, dict))
    return frozenset(key for key in keys if isinstance(key, str))


def _has(existing: Json, key: str, new: str, value: str) -> bool:
    return existing.get(new) == value and (new == key or key not in existing)


def _match_label(key: str) -> Path:
    return _SELECTOR / "matchLabels" / KeyStep(key)
