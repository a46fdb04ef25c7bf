"""Placeholders among labels, annotations and variables are replaced by values of the token store.

What has no value that fits stays as it is. A label by which a workload may find its pods keeps its key
and its value, as it does before policies.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from nemutator_common import names
from nemutator_common.declarations import DeclarationError, from_annotations

from nemutator_controller.mutations import annotations, image_tokens, labels, selector_tokens
from nemutator_controller.mutations.edits import Author, Draft
from nemutator_controller.mutations.known_tokens import (
    POLICY,
    PREFIX,
    KnownTokens,
    NoValueError,
    Unresolved,
    value_of,
)
from nemutator_controller.mutations.paths import (
    ItemStep,
    Path,
    annotation,
    field_path,
    label,
    named,
)
from nemutator_controller.mutations.qos import LISTS
from nemutator_controller.mutations.texts import LONGEST_ANNOTATION, is_label

VARIABLES_VERB = "env"
REFERENCE = f"{PREFIX}env_"

LONGEST_VARIABLE = 4096
"""Characters of a variable's value that comes from a token."""

_DOMAIN = f"{names.DOMAIN}/"
_OURS = NoValueError("unfit", f"words of {names.DOMAIN} steer nemutator itself")


def replace_texts(
    draft: Draft,
    tokens: KnownTokens,
    *,
    skipped: Collection[str],
    kept: frozenset[str],
    unwanted: frozenset[str] = frozenset(),
) -> list[Unresolved]:
    """Replace what is written into the pod's spec and metadata; *kept*: keys of labels that stay; *unwanted*: those
    that no label may get."""
    unresolved: list[Unresolved] = []
    for words in (_LABELS, _ANNOTATIONS):
        if words.verb not in skipped:
            unresolved += _replace_in_map(draft, tokens, words, kept, unwanted)
    if VARIABLES_VERB not in skipped:
        unresolved += _replace_variables(draft, tokens)
    return unresolved


def place_of(key: str, value: str) -> tuple[str, str]:
    """Where the token *key* can stand, and why *value* would not be put there; empty when it would."""
    for prefix, place, misfit in _PLACES:
        if key.startswith(prefix):
            try:
                value_of(KnownTokens({key: value}), key, misfit)
            except NoValueError as error:
                return place, str(error)
            return place, ""
    return "", ""


@dataclass(frozen=True, slots=True)
class PlaceholderVariable:
    """A variable whose value is a placeholder."""

    item: Path
    """Leads to the item of the container's `env`."""
    field: str
    container: str
    name: str
    placeholder: str
    is_only: bool
    """Whether the container names it once: a path leads to the first."""


def variables_of(draft: Draft) -> Iterator[PlaceholderVariable]:
    """The variables of all containers whose values look like placeholders, in their order."""
    for field in LISTS:
        for listed in draft.value(field_path(field)):
            for container in listed or ():
                yield from _variables_in(field, container)


def _variables_in(field: str, container: object) -> Iterator[PlaceholderVariable]:
    name = container.get("name") if isinstance(container, dict) else None
    listed = container.get("env") if isinstance(container, dict) else None
    if not isinstance(name, str) or not isinstance(listed, list):
        return
    variables = [each for each in listed if isinstance(each, dict)]
    found = [
        (variable, value)
        for each in variables
        if isinstance(value := each.get("value"), str) and value.startswith(PREFIX)
        if isinstance(variable := each.get("name"), str)
    ]
    if not found:
        return
    times = Counter(each.get("name") for each in variables if isinstance(each.get("name"), str))
    for variable, value in found:
        item = named(field, name) / "env" / ItemStep("name", variable)
        is_only = times[variable] == 1
        yield PlaceholderVariable(item, field, name, variable, value, is_only)


@dataclass(frozen=True, slots=True)
class _Words:
    """The placeholders of one map of the metadata."""

    verb: str
    keys: str
    values: str
    path: Callable[[str], Path]
    bad_key: Callable[[str], str]
    """What was expected instead; empty: the text can be a key."""
    bad_value: Callable[[str], str]


def _bad_key(text: str) -> str:
    if text.startswith(_DOMAIN):
        return f"another key, because {_OURS}"
    return "" if is_label(text, "") else "a key (letters, digits, - _ . up to 63)"


def _bad_label(text: str) -> str:
    return "" if is_label("key", text) else "a label's value (letters, digits, - _ . up to 63)"


def _bad_annotation(text: str) -> str:
    return "" if len(text) <= LONGEST_ANNOTATION else f"at most {LONGEST_ANNOTATION} characters"


def bad_reference(text: str) -> str:
    try:
        from_annotations({f"{names.ENVIRONMENT_PREFIX}NAME": text})
    except DeclarationError:
        return "a reference to a secret in Vault, like secret/app/db#password"
    return ""


def _bad_variable(text: str) -> str:
    if len(text) > LONGEST_VARIABLE:
        return f"at most {LONGEST_VARIABLE} characters"
    return "text without zero characters" if "\0" in text else ""


_LABELS = _Words(
    labels.VERB, f"{PREFIX}label_", f"{PREFIX}label_value_", label, _bad_key, _bad_label
)
_ANNOTATIONS = _Words(
    annotations.VERB,
    f"{PREFIX}anno_",
    f"{PREFIX}anno_value_",
    annotation,
    _bad_key,
    _bad_annotation,
)

_PLACES: tuple[tuple[str, str, Callable[[str], str]], ...] = (
    (_LABELS.values, "a label's value", _bad_label),
    (_LABELS.keys, "a label's key", _bad_key),
    (_ANNOTATIONS.values, "an annotation's value", _bad_annotation),
    (_ANNOTATIONS.keys, "an annotation's key", _bad_key),
    (REFERENCE, "a variable, from Vault", bad_reference),
    (image_tokens.KEY, "an image of that name", image_tokens.bad_image),
    (selector_tokens.VALUES, "the value of that key of selectors", _bad_label),
    (selector_tokens.KEYS, "that key of selectors", _bad_key),
    (selector_tokens.LIST, "nowhere: it lists keys of selectors", selector_tokens.bad_list),
    (PREFIX, "a variable", _bad_variable),
)
"""The first prefix that a key has says its place."""


def _replace_in_map(
    draft: Draft,
    tokens: KnownTokens,
    words: _Words,
    kept: frozenset[str],
    unwanted: frozenset[str],
) -> Iterator[Unresolved]:
    [texts] = draft.value(field_path("metadata", words.verb)) or ({},)
    found = [
        (key, value)
        for key, value in (texts or {}).items()
        if key.startswith(words.keys) or (value and value.startswith(words.values))
    ]
    for key, value in found:
        path = words.path(key)
        is_kept = words.verb == labels.VERB and key in kept
        new_key, new_value = key, value
        if value and value.startswith(words.values):
            try:
                _check_place(key, is_kept=is_kept)
                new_value = value_of(tokens, value, words.bad_value)
            except NoValueError as error:
                yield error.at(path, value)
        if key.startswith(words.keys):
            try:
                _check_place(key, is_kept=is_kept)
                new_key = value_of(tokens, key, words.bad_key)
                if words.verb == labels.VERB and new_key in unwanted:
                    why = f"the selector of its workload wants pods without {new_key}"
                    raise NoValueError("kept", why)
                if draft.value(words.path(new_key)):
                    raise NoValueError("unfit", f"{new_key} is there already")
            except NoValueError as error:
                new_key = key
                yield error.at(path, key)
        replaced = [old for old, new in ((key, new_key), (value, new_value)) if old != new]
        author = author_of(draft, path, words.verb, tokens, *replaced)
        if new_key == key:
            draft.set(path, new_value, author)
        else:
            _move(draft, path, words.path(new_key), new_value, author)


def _check_place(key: str, *, is_kept: bool) -> None:
    if is_kept:
        raise NoValueError(
            "kept", "its workload may find its pods by it; have a policy add that label instead"
        )
    if key.startswith(_DOMAIN):
        raise _OURS


def _move(draft: Draft, old: Path, new: Path, value: str, author: Author) -> None:
    """Replace *old* by *new*: both, or neither where somebody has taken one of them back."""
    [before] = draft.value(old)
    draft.put(old, (), author)
    draft.set(new, value, author)
    if draft.value(old):
        draft.put(new, (), author)
    elif not draft.value(new):
        draft.set(old, before, author)


def _replace_variables(draft: Draft, tokens: KnownTokens) -> Iterator[Unresolved]:
    for each in list(variables_of(draft)):
        if each.placeholder.startswith(REFERENCE):
            continue
        try:
            check_only(each)
            value = value_of(tokens, each.placeholder, _bad_variable)
        except NoValueError as error:
            yield error.at(each.item, each.placeholder)
        else:
            path = each.item / "value"
            author = author_of(draft, path, VARIABLES_VERB, tokens, each.placeholder)
            draft.set(path, value, author)


def author_of(
    draft: Draft, path: Path, verb: str, tokens: KnownTokens, *placeholders: str
) -> Author:
    """Who writes the values of *placeholders*: the policy that has written them to *path*, or none."""
    writer = draft.author(path)
    reasons = [tokens.source(each) for each in placeholders]
    if writer is None:
        return Author(verb, POLICY, "; ".join(reasons))
    return Author(verb, writer.policy, "; ".join(filter(None, (*reasons, writer.reason))))


def check_only(variable: PlaceholderVariable) -> None:
    if not variable.is_only:
        raise NoValueError("unfit", "the container has this variable twice")
