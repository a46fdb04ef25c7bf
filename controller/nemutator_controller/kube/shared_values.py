"""Equal values of many objects are kept once: strings, tuples of shapes, and mappings of texts."""

import functools
from collections.abc import Hashable, Mapping

import msgspec


# Not `sys.intern`: on Python 3.12 that keeps each string for ever.
@functools.lru_cache(maxsize=1 << 16)
def shared(value: Hashable) -> Hashable:
    """The one copy of *value*: a string, or a tuple of shapes that many objects have alike."""
    return value


@functools.lru_cache(maxsize=1 << 12)
def shared_moment(text: str) -> str:
    """The one copy of a time of late: many pods are made in one second. It has a cache of its own, so that those that are alone
    in their second push nothing else out."""
    return text


def shared_texts(texts: Mapping[str, str]) -> Mapping[str, str]:
    """The one mapping that is equal to *texts*."""
    return _texts(*texts, *texts.values())


@functools.lru_cache(maxsize=1 << 16)
def _texts(*flat: str) -> Mapping[str, str]:
    """The one mapping with these keys, which come first, and these values, in the same order."""
    half = len(flat) // 2
    return dict(zip(flat[:half], flat[half:], strict=True))


_NO_TEXTS: Mapping[str, str] = {}


def no_texts() -> Mapping[str, str]:
    """The one mapping of nothing. A shape whose default is `{}` gets a dict of its own: of a pod with two containers
    four, which take 320 bytes."""
    return _NO_TEXTS


set_field = msgspec.structs.force_setattr
"""Only used while an object is made, before anybody else has seen it."""
