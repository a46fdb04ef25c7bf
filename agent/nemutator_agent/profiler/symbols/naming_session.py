"""What is gathered while the addresses of one profile get their names, and how long that may take."""

from dataclasses import dataclass, field

from nemutator_agent.inspection.identities import FileId
from nemutator_agent.profiler.raw import Task
from nemutator_agent.profiler.symbols.named_profile import AddressNames


@dataclass(slots=True)
class NamingSession:
    ends_at: float
    most_cpu_s: float
    names: AddressNames = field(default_factory=AddressNames)
    notes: dict[str, set[str]] = field(default_factory=dict)
    """By the name of a file."""
    unnamed: dict[str, tuple[int, int]] = field(default_factory=dict)
    """By the name of a file: how many places have no name, and how often they were seen."""
    failed: set[FileId] = field(default_factory=set)
    failures: int = 0
    compiled: set[Task] = field(default_factory=set)
    """Those of which a name was found among those that they tell of code they have compiled."""
    ended: set[Task] = field(default_factory=set)
    """Those whose mappings were kept."""
    gone: int = 0
    """Processes of which something has no name because they had ended."""

    def note(self, file: str, note: str) -> None:
        self.notes.setdefault(file, set()).add(note)
