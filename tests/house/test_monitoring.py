"""Alerts and dashboards speak of metrics that exist, and each alert has its page in the runbook."""

import json
import re
from collections.abc import Iterator
from typing import Any

import yaml
from nemutator_common import names

from scripts import dashboards
from tests.house.tree import REPOSITORY

ALERTS = REPOSITORY / "deploy" / "alerts"
RUNBOOK = REPOSITORY / "docs" / "runbook.md"

# Which every client library counts, and every scrape of Prometheus.
OTHERS = {"up", "process_cpu_seconds_total", "process_resident_memory_bytes"}


def rules() -> list[dict[str, Any]]:
    groups = yaml.safe_load((ALERTS / "nemutator.yaml").read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def expressions() -> Iterator[str]:
    yield from (rule["expr"] for rule in rules())
    for path in sorted(dashboards.FOLDER.glob("*.json")):
        for panel in json.loads(path.read_text())["panels"]:
            yield from (target["expr"] for target in panel["targets"])


def test_every_metric_that_is_asked_for_is_declared() -> None:
    declared = {metric.name: metric for metric in names.declared(names.Metric)}
    for expression in expressions():
        asked = set(re.findall(r"\b(?:nemutator_|process_)\w+|\bup\b", expression))
        assert asked, expression
        for name in asked - OTHERS:
            plain = name.removesuffix("_bucket")
            assert plain in declared, f"{name} in {expression}"
            assert (name != plain) == (declared[plain].kind == "histogram"), expression


def test_labels_by_which_metrics_are_chosen_are_theirs() -> None:
    declared = {metric.name: set(metric.labels) for metric in names.declared(names.Metric)}
    for expression in expressions():
        for name, chosen in re.findall(r"(nemutator_\w+)\{([^}]*)\}", expression):
            labels = set(re.findall(r"(\w+)\s*[=!]", chosen))
            assert labels <= declared[name], expression


def test_each_alert_has_its_page_in_the_runbook_and_each_page_its_alert() -> None:
    titles = re.findall(r"^## (Nemutator\w+)$", RUNBOOK.read_text(), re.MULTILINE)
    assert titles == [rule["alert"] for rule in rules()]
    for rule in rules():
        assert rule["annotations"]["runbook"] == f"docs/runbook.md#{rule['alert'].lower()}"
        assert rule["labels"]["severity"] in {"critical", "warning", "info"}


def test_what_an_alert_is_told_apart_by_is_explained_on_its_page() -> None:
    parts = re.split(r"^## ", RUNBOOK.read_text(), flags=re.MULTILINE)
    pages = {part.partition("\n")[0]: part for part in parts}
    for rule in rules():
        for values in re.findall(r'=~"([\w|]+)"', rule["expr"]):
            unsaid = [one for one in values.split("|") if f"`{one}`" not in pages[rule["alert"]]]
            assert not unsaid, f"{rule['alert']}: {', '.join(unsaid)}"


def test_each_alert_is_tried_where_it_fires_and_where_it_does_not() -> None:
    tried = yaml.safe_load((ALERTS / "nemutator.test.yaml").read_text())["tests"]
    titles = {each["name"] for each in tried}
    for rule in rules():
        assert {f"{rule['alert']} fires", f"{rule['alert']} silent"} <= titles


def test_dashboards_are_up_to_date() -> None:
    there = {path.name: path.read_text() for path in dashboards.FOLDER.iterdir()}
    assert there == dashboards.rendered(), "make fmt writes them anew"
