"""What labels, annotations and node selectors have in common: all are maps of short texts."""

from collections.abc import Callable, Iterator, Mapping
from typing import Annotated

import msgspec
from nemutator_common import names

from nemutator_controller.kube.label_selectors import SelectorError, parse_selector
from nemutator_controller.mutations.edits import Author, Draft, Member, member_at
from nemutator_controller.mutations.paths import Path

MOST = 64
LONGEST_ANNOTATION = 4096
LONGEST_KEY = 317
"""A prefix of 253, a slash, a name of 63."""

Key = Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_KEY)]


class Texts(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a map should have."""

    set: Mapping[str, str] = {}
    """Replaces what is there."""
    add: Mapping[str, str] = {}
    """Is added where the map does not have the key."""
    remove: Annotated[tuple[Key, ...], msgspec.Meta(max_length=MOST)] = ()
    """Keys that the map should not have."""


class TextSetters(msgspec.Struct, frozen=True):
    """Texts as they are written, made once for all objects."""

    around: Path
    """The map."""
    set: tuple[Member, ...]
    add: tuple[Member, ...]
    remove: tuple[Path, ...]
    author: Author
    replaced: frozenset[str]
    """Keys whose values may change, or go."""


def setters_of(texts: Texts, path: Callable[[str], Path], author: Author) -> TextSetters:
    """*path*: that of each key."""
    around = Path(path("").steps[:-1])
    setting, adding = (
        tuple(member_at(path(key), value, author) for key, value in pairs.items())
        for pairs in (texts.set, texts.add)
    )
    removed = tuple(map(path, texts.remove))
    return TextSetters(
        around, setting, adding, removed, author, frozenset((*texts.set, *texts.remove))
    )


def write(draft: Draft, setters: TextSetters) -> None:
    if setters.set:
        draft.set_members(setters.around, setters.set)
    if setters.add:
        draft.set_members(setters.around, setters.add, only_new=True)
    for path in setters.remove:
        draft.put(path, (), setters.author)


def faults(texts: Texts, *, labels: bool) -> Iterator[str]:
    """Why the API server, or we, would refuse *texts*; each fault begins with the field."""
    if not texts.set and not texts.add and not texts.remove:
        yield "set: name at least one key here, in add or in remove"
    if len(texts.set) + len(texts.add) + len(texts.remove) > MOST:
        yield f"set: more than {MOST} keys"
    if twice := sorted(set(texts.remove) & {*texts.set, *texts.add}):
        yield f"remove: {twice[0][:80]} is set or added, too"
    removed = dict.fromkeys(texts.remove, "")
    for field, pairs in (("set", texts.set), ("add", texts.add), ("remove", removed)):
        for key, value in pairs.items():
            where = f"{field}[{key[:80]}]"
            if key.startswith(f"{names.DOMAIN}/"):
                yield f"{where}: words of {names.DOMAIN} steer nemutator itself; use another key"
            elif not is_label(key, value if labels else ""):
                what = "a label's key and value" if labels else "an annotation's key"
                yield f"{where}: expected {what} (letters, digits, - _ . up to 63)"
            elif len(value) > LONGEST_ANNOTATION:
                yield f"{where}: longer than {LONGEST_ANNOTATION} characters"


def is_label(key: str, value: str) -> bool:
    """Whether Kubernetes accepts them as the key and value of a label."""
    try:
        requirements = parse_selector(f"{key}={value}").requirements
    except SelectorError:
        return False
    return [(each.key, each.values) for each in requirements] == [(key, (value,))]
