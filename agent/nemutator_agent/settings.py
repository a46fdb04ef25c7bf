"""Settings of the agent's processes."""

import re
from dataclasses import dataclass
from typing import ClassVar

from nemutator_common import names
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.settings import Shared, between, setting
from nemutator_common.shipping.settings import CallsBrain

_NODE = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?")


def _node(value: str) -> str | None:
    if not value or _NODE.fullmatch(value):
        return None
    return "expected a host name: letters, digits, dots and dashes, at most 253"


@dataclass(frozen=True, slots=True, kw_only=True)
class ObserveSettings(CallsBrain):
    """`nemutator-agent observe`."""

    role: ClassVar[str] = names.OBSERVE

    node: str = setting(
        "", "Name under which this machine is reported; empty: its host name.", check=_node
    )
    interval_s: float = setting(
        3.0, "Seconds between two looks at the machine.", check=between(0.5, 60)
    )
    summary_s: float = setting(
        15.0,
        "Seconds that one summary of a container's use spans: what advice on its size learns from.",
        check=between(1, 300),
    )
    processes: int = setting(
        4096, "Most processes in a report; the others are counted.", check=between(1, 20_000)
    )
    groups: int = setting(
        2048, "Most control groups whose counters are read.", check=between(1, 4_000)
    )
    descriptors: int = setting(
        16_384,
        "Most files of /proc and of control groups that are kept open, six or less per group and "
        "one per process; never more than the open file limit leaves.",
        check=between(16, 1_000_000),
    )
    buffered_reports: int = setting(
        1_000,
        "Most reports that wait for the brain; then the oldest go.",
        check=between(1, 100_000),
    )

    def name_of(self, host: str) -> str:
        """What the machine called *host* is reported as; a brain refuses what is no host name."""
        if not self.node and not _NODE.fullmatch(host):
            raise OperatorError(
                f"this machine's host name cannot be reported: {host[:253]!r}",
                remedy="name it for us with --node, or give the machine another host name",
                code=ExitCode.SETTINGS,
            )
        return self.node or host


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialsSettings(CallsBrain):
    """`nemutator-agent credentials`."""

    role: ClassVar[str] = names.CREDENTIALS

    node: str = setting(
        "", "Name of this machine in audit records; empty: its host name.", check=_node
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MountSettings(Shared):
    """`nemutator-agent mount`."""

    role: ClassVar[str] = names.MOUNT

    node: str = setting(
        "", "Name of this machine in the cluster; empty: its host name.", check=_node
    )
