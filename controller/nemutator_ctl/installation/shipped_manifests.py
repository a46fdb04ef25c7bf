"""What this version can install: the manifests of `deploy/`, each with what switches it on.

`scripts/installed.py` writes it as `shipped.json` in this folder.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nemutator_ctl.installation.chart_values import at

Json = dict[str, Any]
Condition = Sequence[Sequence[str]]
"""Values: one of each group has to be true."""


@dataclass(frozen=True, slots=True)
class ShippedManifests:
    version: str
    documents: tuple[tuple[Condition, Json], ...]
    """In the order in which they are installed."""
    definitions: tuple[Json, ...]
    containers: Mapping[str, Condition]
    """Of the agent's pod; others are always there."""
    volumes: Mapping[str, Condition]
    values: Json
    """What is installed without any."""
    schema: Json
    alerts: Json
    dashboards: Mapping[str, str]

    @classmethod
    def decoded(cls, found: Json) -> "ShippedManifests":
        return cls(
            version=found["version"],
            documents=tuple((each["when"], each["document"]) for each in found["documents"]),
            definitions=tuple(found["definitions"]),
            containers=found["containers"],
            volumes=found["volumes"],
            values=found["values"],
            schema=found["schema"],
            alerts=found["alerts"],
            dashboards=found["dashboards"],
        )


def is_on(when: Condition, values: Mapping[str, Any]) -> bool:
    return all(any(at(values, name) for name in group) for group in when)
