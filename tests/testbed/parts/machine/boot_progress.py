"""Whether a machine that is not up yet is slow, or hangs: pure, by how much it has said and used."""

HUNG_CPU_S = 300.0
"""A whole start takes an emulator 100 to 200 s of CPU time, and has something to say every few seconds."""

SILENT_S = 900.0
"""For one that waits and computes nothing. Beside much other work, a line may take minutes."""


class BootProgress:
    def __init__(self) -> None:
        self._said = -1
        self._cpu_s = self._at = 0.0

    def hangs(self, *, said: int, cpu_s: float, now: float) -> bool:
        """Whether it has used much CPU time, or has been silent for long, since its console's *said* bytes
        became so many."""
        if said != self._said:
            self._said, self._cpu_s, self._at = said, cpu_s, now
        return cpu_s - self._cpu_s > HUNG_CPU_S or now - self._at > SILENT_S
