"""Which pods have ended, by what is left of them: neither their volume's directory nor a process.

Kubelet has a volume's directory removed when the pod has terminated, whoever listens. A directory
alone can be lost in other ways, so a pod is not gone as long as any control group of any process
could mean it. That is a search, and not the fixed position that proves an identity: here a name
that somebody made up delays the end of a token, and brings about nothing.
"""

import asyncio
import os
from collections.abc import Collection, Iterator, Mapping

from nemutator_agent.identity.cgroup_lines import LONGEST_TEXT
from nemutator_agent.identity.pods import pods_named_in


class ProcEndedPods:
    """Fulfils the port `EndedPods`; sees all processes only in the machine's own pid namespace, as
    identity does."""

    async def among(self, homes: Mapping[str, str]) -> Collection[str]:
        # In a thread: a large node has some thousand processes.
        return await asyncio.to_thread(_gone, dict(homes))


def _gone(homes: Mapping[str, str]) -> Collection[str]:
    gone = {uid for uid, home in homes.items() if _is_removed(home)}
    if not gone:
        return gone
    try:
        for text in _cgroups():
            gone -= pods_named_in(text)
    except OSError:
        return ()
    return gone


def _is_removed(home: str) -> bool:
    """Whether it alone is missing: without the directory of all volumes we see none of them."""
    return bool(home) and os.path.isdir(os.path.dirname(home)) and not os.path.lexists(home)


def _cgroups() -> Iterator[str]:
    for pid in os.listdir("/proc"):
        if not pid.isdigit():
            continue
        try:
            with open(f"/proc/{pid}/cgroup", "rb") as file:
                yield file.read(LONGEST_TEXT).decode("utf-8", "surrogateescape")
        except (FileNotFoundError, ProcessLookupError):
            continue
