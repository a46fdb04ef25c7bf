"""What a unit is given, for people."""

from collections.abc import Iterator
from dataclasses import dataclass

from nemutator_ctl.answers import understood
from nemutator_ctl.terminal_text import visible

WIDTH = 200


@dataclass(frozen=True, slots=True)
class ShownValue:
    setting: str
    now: str
    wanted: str
    reason: str


@dataclass(frozen=True, slots=True)
class ShownUnit:
    unit: str
    outcome: str
    id: str
    file: str
    before: str | None
    content: str
    values: tuple[ShownValue, ...]
    warnings: tuple[str, ...]

    @property
    def is_done(self) -> bool:
        """There is nothing left to write, and systemd has read it."""
        return self.before == self.content and all(one.now == one.wanted for one in self.values)


def decode(document: object) -> ShownUnit:
    return understood(document, ShownUnit, "what sizing a unit answers")


def view(sized: ShownUnit) -> str:
    return "".join(visible(line, limit=WIDTH) + "\n" for line in _lines(sized))


def _lines(sized: ShownUnit) -> Iterator[str]:
    outcome = "has it already" if sized.is_done else sized.outcome
    id_ = f"  (mutation {sized.id})" if sized.id else ""
    yield f"{sized.unit} {outcome}: {sized.file}{id_}"
    for one in sized.values:
        yield f"  {one.setting:<10} {one.now} → {one.wanted}  ({one.reason})"
    for text in sized.warnings:
        yield f"  warning: {text}"
    if sized.before == sized.content:
        return
    for line in (sized.before or "").splitlines():
        yield f"  - {line}"
    for line in sized.content.splitlines():
        yield f"  + {line}"
