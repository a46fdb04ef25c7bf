"""Whom the brain answers: people at the console, and nodes that report."""

from dataclasses import dataclass

from nemutator_common.settings import between, setting

from nemutator_controller.setting_checks import loopback


@dataclass(frozen=True, kw_only=True)
class CallerSettings:
    console: str = setting(
        "127.0.0.1:8420",
        "Address of the console; port 0 is any free one. It is plain HTTP, so only loopback.",
        check=loopback,
    )
    session_s: float = setting(
        43_200.0,
        "Seconds for which a browser may use the console after it has opened a link.",
        check=between(60, 30 * 86_400),
    )
    audit_key_file: str = setting(
        "",
        "File with the key of the installation for digests of paths in audit records: with it, "
        "`/api/v1/grants?path=` says who read a path.",
    )
    most_nodes: int = setting(
        5_000,
        "Nodes that may report. One more takes the place of one that is silent for 10 minutes, or is refused.",
        check=between(1, 20_000),
    )
    reports_per_s: float = setting(
        25.0,
        "Reports per second that all nodes together should send; each costs 2 to 5 ms of CPU. With"
        " more nodes, each of them is asked for fewer, down to one in 60 s; then a node is shown as"
        " stale only when three of its reports are missing.",
        check=between(1, 1_000),
    )
    stale_after_s: float = setting(
        15.0,
        "Seconds without a report after which a node is shown as stale.",
        check=between(1, 86_400),
    )
