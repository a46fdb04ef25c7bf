"""The person at the terminal, and their sudo, as a test wants them."""

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class FakePerson:
    terminal: bool = True
    sudo_path: str | None = "/usr/bin/sudo"
    answer: str = "y\n"
    password: bool = True
    """Whether they type the right one when sudo asks."""
    remembered: bool = True
    """Whether sudo lets them in without asking: by rule, or because they typed it just now."""
    questions: int = 0
    ran: list[tuple[str, ...]] = field(default_factory=list)
    deadlines: list[float | None] = field(default_factory=list)

    def at_terminal(self) -> bool:
        return self.terminal

    def sudo(self) -> str | None:
        return self.sudo_path

    async def asked(self, question: str) -> str:
        self.questions += 1
        return self.answer

    async def runs(self, argv: Sequence[str], *, deadline_s: float | None) -> bool:
        self.ran.append(tuple(argv))
        self.deadlines.append(deadline_s)
        return self.remembered if "-n" in argv else self.password
