"""Tokens: short texts that a store keeps under keys that pods write as placeholders.

    nemu_label_<hash>    a label's key            nemu_label_value_<hash>    a label's value
    nemu_anno_<hash>     an annotation's key      nemu_anno_value_<hash>     an annotation's value
    nemu_<hash>          a variable's value
    nemu_env_<hash>      a variable's value, which stays in Vault: the token is a reference to it

Keys and placeholders are the same text. Others are looked up by what a manifest says itself:

    nemu_image_<repository>               the tag of that image, or another image
    nemu_selector_label_<key>             another name for that key of selectors
    nemu_selector_label_value_<key>       another value for it
    nemu_selectors_replace_list           the keys of selectors that are looked up
"""

import re
from collections import ChainMap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

PREFIX = "nemu_"

KEY = re.compile(rf"^{PREFIX}[A-Za-z0-9][A-Za-z0-9._:/@-]*$")
LONGEST_KEY = 256
LONGEST_VALUE = 4096

POLICY = "tokens"
"""What edits name in the place of a policy."""

Why = Literal["unknown", "unfit", "kept", "not_injected"]


NO_STORE = "there is no token store, and no policy for this pod has such a token"
NOT_READ = "the token store has not been read yet: `nemutator token list` says why"


@dataclass(frozen=True, slots=True)
class KnownTokens:
    """The tokens of one moment. A store that is configured may have none."""

    values: Mapping[str, str]
    without: str = "the token store has no such key"
    """Why a placeholder without a value has none."""
    policies: Mapping[str, str] = field(default_factory=dict)
    """The names of policies that bring tokens of their own, by their keys."""

    @property
    def are_read(self) -> bool:
        """Whether a token that is not among them is none, and not one that nobody has read yet."""
        return self.without != NOT_READ

    def below(self, first: Mapping[str, str], policies: Mapping[str, str]) -> "KnownTokens":
        """With those of *first*, which go before these, and which *policies* bring."""
        # Not merged: there may be a hundred thousand, and this is done for each pod.
        values = ChainMap(dict(first), self.values)  # type: ignore[arg-type]
        return KnownTokens(values, self.without, policies)

    def source(self, key: str) -> str:
        """Where a value comes from, as the reason of an edit."""
        policy = self.policies.get(key)
        return f"token {key} of policy {policy}" if policy else f"token {key}"


NO_TOKENS = KnownTokens({}, NO_STORE)


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A placeholder that stays as it is."""

    path: str
    placeholder: str
    why: Why
    reason: str
    """For whoever creates the pod."""

    def __str__(self) -> str:
        return f"{self.path}: {self.placeholder[:80]} stays as it is: {self.reason}"


class NoValueError(Exception):
    """A placeholder has no value that fits where it stands."""

    def __init__(self, why: Why, reason: str) -> None:
        super().__init__(reason)
        self.why: Why = why

    def at(self, path: object, placeholder: str) -> Unresolved:
        return Unresolved(str(path), placeholder, self.why, str(self))


def value_of(tokens: KnownTokens, placeholder: str, misfit: Callable[[str], str]) -> str:
    """The value of *placeholder*, or a `NoValueError`; *misfit* says what the place expects instead."""
    value = tokens.values.get(placeholder)
    if value is None:
        raise NoValueError("unknown", tokens.without)
    if value.startswith(PREFIX):
        # A plan is made of its own result when the server asks again.
        raise NoValueError("unfit", "its value is a placeholder, too")
    if expected := misfit(value):
        raise NoValueError("unfit", f"its value does not fit: expected {expected}")
    return value
