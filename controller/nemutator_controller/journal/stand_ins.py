"""What a manifest stands for where no cluster runs it: a unit, a container, a program or a control group.

An annotation names it, because nothing else joins a file to what runs on the machine:
`nemutator.io/stands-for: unit/shop.service`, or for each container `web=unit/shop.service db=container/3f1c9ab04d55`.
A namespace in front, like `system.slice/unit/shop.service`, tells equal names apart.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nemutator_common.names import STANDS_FOR

KINDS = ("unit", "container", "program", "group")
LONGEST = 4_096
MOST = 100


@dataclass(frozen=True, slots=True)
class StandIn:
    """What a container of a manifest stands for."""

    kind: str
    name: str
    namespace: str = ""
    """The first element of its control group's path; empty: whatever there is of that kind and name."""


@dataclass(frozen=True, slots=True)
class StandIns:
    containers: Mapping[str, StandIn]
    others: StandIn | None = None
    """For containers that are not named."""

    def of(self, container: str) -> StandIn | None:
        return self.containers.get(container, self.others)


class StandInError(ValueError):
    """The annotation names nothing that can be looked for."""


def stand_ins_of(document: Mapping[str, Any]) -> StandIns | None:
    """What the annotation of *document* says, None without one; raises `StandInError`."""
    metadata = document.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, Mapping) else None
    text = annotations.get(STANDS_FOR) if isinstance(annotations, Mapping) else None
    if text is None:
        return None
    if not isinstance(text, str) or len(text) > LONGEST:
        raise StandInError(f"{STANDS_FOR}: expected text of {LONGEST} characters at most")
    words = [word for word in re.split(r"[\s,]+", text) if word]
    if not 0 < len(words) <= MOST:
        raise StandInError(f"{STANDS_FOR}: expected 1 to {MOST} of {_SHAPE}")
    containers: dict[str, StandIn] = {}
    others = None
    for word in words:
        container, equals, rest = word.partition("=")
        if equals and "/" not in container:
            containers[container] = _stand_in(rest)
        else:
            others = _stand_in(word)
    return StandIns(containers, others)


_SHAPE = f"[CONTAINER=][NAMESPACE/]KIND/NAME, KIND one of {', '.join(KINDS)}"


def _stand_in(word: str) -> StandIn:
    parts = word.split("/", 2)
    if len(parts) == 2 and parts[0] in KINDS and parts[1]:
        return StandIn(parts[0], parts[1])
    if len(parts) == 3 and parts[1] in KINDS and parts[2]:
        return StandIn(parts[1], parts[2], parts[0])
    raise StandInError(f"{STANDS_FOR}: {word[:80]!r}: expected {_SHAPE}")
