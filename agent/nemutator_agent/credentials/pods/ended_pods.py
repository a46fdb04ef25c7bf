"""Which pods have certainly ended: those of which neither the volume's directory nor a process is left.

Kubelet has a volume's directory removed when the pod has terminated. A directory alone can be lost in
other ways, so a pod counts as alive as long as the control group of any process could mean it. This is
a search, and not the fixed position that proves an identity: a name that a user made up can delay the
end of a token here, and has no other effect.
"""

import asyncio
import os
from collections.abc import Collection, Iterator, Mapping

from nemutator_agent.identity.cgroup_lines import LONGEST_TEXT
from nemutator_agent.identity.pods import pods_named_in


async def ended_pods(homes: Mapping[str, str]) -> Collection[str]:
    """Of the pods with these uids and the directories of their volumes, those that have certainly ended.

    As for identity, this process has to be in the machine's own pid namespace, to see all processes.
    """
    # In a thread, because a large node has some thousand processes.
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
    """Whether this directory alone is missing, and not also the one that holds those of all volumes."""
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
