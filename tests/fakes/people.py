"""The terminal of a person, and their sudo, as a test wants them."""

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class FakeTerminal:
    interactive: bool = True
    sudo_path: str | None = "/usr/bin/sudo"
    answer: str | None = "y\n"
    password: bool = True
    """Whether they type the right one when sudo asks."""
    remembered: bool = True
    """Whether sudo lets them in without asking: by rule, or because they typed it just now."""
    questions: list[str] = field(default_factory=list)
    ran: list[tuple[str, ...]] = field(default_factory=list)
    deadlines: list[float] = field(default_factory=list)

    def is_interactive(self) -> bool:
        return self.interactive

    def sudo(self) -> str | None:
        return self.sudo_path

    async def ask(self, question: str, *, deadline_s: float) -> str | None:
        self.questions.append(question)
        self.deadlines.append(deadline_s)
        return self.answer

    async def runs(self, argv: Sequence[str], *, deadline_s: float) -> bool:
        self.ran.append(tuple(argv))
        self.deadlines.append(deadline_s)
        return self.remembered if "-n" in argv else self.password
