"""Tokens as people and programs are shown them."""

from dataclasses import dataclass

from nemutator_controller.mutations.placeholders import place_of
from nemutator_controller.tokens.model import TokenTable


@dataclass(frozen=True, slots=True)
class TokenDocument:
    key: str
    value: str
    place: str
    """Where a pod can write it."""
    fault: str
    """Why it would not be put there; empty when it would."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenListDocument:
    source: str
    """Empty: there is no token store."""
    read: bool
    age_s: float
    """Since the tokens were true."""
    problem: str = ""
    """Why the store cannot be read now."""
    count: int = 0
    left_out: dict[str, int]
    """How many did not count, by reason."""
    items: list[TokenDocument]


def document_of(key: str, value: str) -> TokenDocument:
    place, fault = place_of(key, value)
    return TokenDocument(key, value, place, fault)


NO_STORE = TokenListDocument(source="", read=False, age_s=0.0, left_out={}, items=[])


def listed(
    table: TokenTable | None,
    *,
    source: str,
    age_s: float,
    problem: str,
    key: str | None,
    limit: int,
) -> TokenListDocument:
    """The first *limit* tokens by key, or the one with the key *key*; *table* is None before it is read."""
    values = {} if table is None else table.values
    left_out = {} if table is None else table.left_out
    chosen = sorted(values)[:limit] if key is None else [key] if key in values else []
    return TokenListDocument(
        source=source,
        read=table is not None,
        age_s=age_s,
        problem=problem,
        count=len(values),
        left_out={str(why): count for why, count in left_out.items()},
        items=[document_of(each, values[each]) for each in chosen],
    )
