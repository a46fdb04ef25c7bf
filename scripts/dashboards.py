"""Writes deploy/dashboards: Grafana's JSON from what each panel asks and what it is for."""

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "deploy" / "dashboards"
WIDTH, HEIGHT, ACROSS = 8, 8, 24
RATE = "[$__rate_interval]"

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Panel:
    """*asked*: an expression and the legend of its series, for each line."""

    title: str
    asked: Sequence[tuple[str, str]]
    unit: str = "short"
    meaning: str = ""
    single: bool = False
    """A number in place of a curve."""


def per_second(metric: str, label: str, rest: str = "") -> tuple[str, str]:
    return f"sum(rate({metric}{rest}{RATE})) by ({label})", f"{{{{{label}}}}}"


def quantiles(metric: str) -> list[tuple[str, str]]:
    return [
        (f"histogram_quantile({q}, sum(rate({metric}_bucket{RATE})) by (le))", f"p{q * 100:g}")
        for q in (0.5, 0.95, 0.99)
    ]


BOARDS: dict[str, tuple[str, list[Panel]]] = {
    "pods": (
        "nemutator: pods and policies",
        [
            Panel("Pods under review", [per_second("nemutator_admissions_total", "result")], "reqps"),
            Panel("Time to decide", quantiles("nemutator_admission_seconds"), "s"),
            Panel(
                "Let in unchanged because something failed",
                [per_second("nemutator_admission_failures_total", "reason")],
                "reqps",
                "Promise 1: when unsure, a pod is let in unchanged, and the reason is counted.",
            ),
            Panel("Fields changed", [per_second("nemutator_admission_edits_total", "verb")]),
            Panel("Policies", [("max(nemutator_policies) by (state)", "{{state}}")]),
            Panel(
                "Pods that were missed", [("max(nemutator_missed_pods)", "missed")], single=True
            ),
            Panel("Resizes of running pods", [per_second("nemutator_resizes_total", "result")]),
            Panel("Pods that wait for a resize", [("max(nemutator_resizes_waiting)", "waiting")]),
            Panel("Taken back", [per_second("nemutator_reversals_total", "state")]),
            Panel("Decisions in the journal", [("max(nemutator_decisions)", "decisions")]),
            Panel(
                "Age of what admission knows",
                [("max(nemutator_snapshot_age_seconds) by (snapshot)", "{{snapshot}}")],
                "s",
            ),
            Panel("Decisions that wait for the brain", [("sum(nemutator_spool_records)", "records")]),
        ],
    ),
    "secrets": (
        "nemutator: secrets",
        [
            Panel("Requested", [per_second("nemutator_credentials_reads_total", "result")], "reqps"),
            Panel(
                "Callers refused",
                [per_second("nemutator_credentials_refused_total", "step")],
                "reqps",
                "Promise 2: no secret to the wrong pod. The step is where the proof of identity failed.",
            ),
            Panel(
                "Nodes whose circuit to Vault is open",
                [("count(nemutator_vault_circuit == 2) or vector(0)", "open")],
                single=True,
            ),
            Panel("Calls to Vault", [per_second("nemutator_vault_calls_total", "operation, result")], "reqps"),
            Panel("Time of a call to Vault", quantiles("nemutator_vault_call_seconds"), "s"),
            Panel("Tokens held for pods", [("sum(nemutator_vault_tokens)", "tokens")]),
            Panel("Secrets lent by Vault", [("sum(nemutator_leased_secrets)", "leased")]),
            Panel("Looked at for rotation", [per_second("nemutator_rotation_checks_total", "result")]),
            Panel(
                "What came of rotations",
                [
                    per_second("nemutator_rotation_signals_total", "result"),
                    per_second("nemutator_rotation_restarts_total", "result"),
                ],
            ),
            Panel("Volumes of pods", [("sum(nemutator_volumes)", "published"), ("sum(nemutator_volumes_waiting)", "waiting")]),
            Panel("Volumes that failed", [per_second("nemutator_volume_failures_total", "reason")]),
            Panel("Tokens not revoked yet", [("sum(nemutator_revocations_waiting)", "waiting")]),
        ],
    ),
    "itself": (
        "nemutator: what it costs, and whether it is well",
        [
            Panel("Brains that lead", [("sum(nemutator_brain_leads)", "lead")], single=True),
            Panel(
                "CPU of our processes",
                [('sum(rate(process_cpu_seconds_total{job=~".*nemutator.*"}[$__rate_interval])) by (process)', "{{process}}")],
                "short",
                "In cores.",
            ),
            Panel(
                "Memory of our processes",
                [('max(process_resident_memory_bytes{job=~".*nemutator.*"}) by (process)', "{{process}}, largest")],
                "bytes",
            ),
            Panel(
                "How long event loops were held",
                [("histogram_quantile(0.999, sum(rate(nemutator_loop_held_seconds_bucket[$__rate_interval])) by (le, process))", "{{process}}")],
                "s",
                "One wake in a thousand came so late: nobody else is answered meanwhile.",
            ),
            Panel("Reports stored", [("sum(rate(nemutator_reports_stored_total[$__rate_interval]))", "reports")], "ops"),
            Panel("Records that wait for the brain", [("sum(nemutator_uplink_waiting) by (stream)", "{{stream}}")]),
            Panel("Records dropped", [per_second("nemutator_uplink_dropped_total", "stream, reason")]),
            Panel("Calls to the brain that failed", [per_second("nemutator_uplink_failures_total", "reason")]),
            Panel("Writes that wait for the database", [("max(nemutator_database_queue)", "writes")]),
            Panel("Database failures", [per_second("nemutator_database_failures_total", "operation, reason")]),
            Panel("Requests to the API server", [per_second("nemutator_kube_requests_total", "verb, result")], "reqps"),
            Panel("Profiles", [per_second("nemutator_profile_sessions_total", "result")]),
            Panel("Workloads by how they age", [("max(nemutator_aged_workloads) by (verdict)", "{{verdict}}")]),
        ],
    ),
}  # fmt: skip


def rendered() -> dict[str, str]:
    """By file name."""
    return {
        f"{name}.json": json.dumps(_board(name, title, panels), indent=2) + "\n"
        for name, (title, panels) in BOARDS.items()
    }


def queries() -> Iterator[str]:
    """Every expression, as Prometheus gets it from Grafana."""
    for _, panels in BOARDS.values():
        for panel in panels:
            for expression, _ in panel.asked:
                yield expression.replace("$__rate_interval", "5m")


def _board(name: str, title: str, panels: Sequence[Panel]) -> Json:
    return {
        "uid": f"nemutator-{name}",
        "title": title,
        "tags": ["nemutator"],
        "timezone": "",
        "schemaVersion": 39,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "templating": {
            "list": [
                {
                    "name": "datasource",
                    "label": "Data source",
                    "type": "datasource",
                    "query": "prometheus",
                }
            ]
        },
        "panels": [_panel(index, panel) for index, panel in enumerate(panels)],
    }


def _panel(index: int, panel: Panel) -> Json:
    columns = ACROSS // WIDTH
    source = {"type": "prometheus", "uid": "${datasource}"}
    return {
        "id": index + 1,
        "type": "stat" if panel.single else "timeseries",
        "title": panel.title,
        "description": panel.meaning,
        "datasource": source,
        "gridPos": {
            "x": index % columns * WIDTH,
            "y": index // columns * HEIGHT,
            "w": WIDTH,
            "h": HEIGHT,
        },
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []},
        "targets": [
            {
                "refId": chr(ord("A") + number),
                "datasource": source,
                "expr": expression,
                "legendFormat": legend,
            }
            for number, (expression, legend) in enumerate(panel.asked)
        ],
    }


def main() -> int:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in rendered().items():
        (FOLDER / name).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
