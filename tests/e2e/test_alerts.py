"""Alerts and dashboards before the real Prometheus: promtool's own tests, and every query answered."""

import subprocess

import pytest

from scripts import dashboards
from tests.house.test_monitoring import ALERTS, rules
from tests.testbed.building import made, unpacked
from tests.testbed.fixtures import skipped_when_missing
from tests.testbed.parts.prometheus import Prometheus


def promtool(*arguments: str) -> str:
    with skipped_when_missing():
        root = made.debian("prometheus")
    ran = subprocess.run(
        [unpacked.program(root, "promtool"), *arguments],
        cwd=ALERTS,
        env=unpacked.environment(root),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def test_the_rules_are_sound() -> None:
    assert f"{len(rules())} rules found" in promtool("check", "rules", "nemutator.yaml")


def test_each_alert_fires_when_it_should_and_keeps_silent_when_all_is_well() -> None:
    assert "SUCCESS" in promtool("test", "rules", "nemutator.test.yaml")


@pytest.mark.timeout(180)
def test_prometheus_answers_every_query_of_the_dashboards(prometheus: Prometheus) -> None:
    for query in dashboards.queries():
        # It refuses what it does not understand, and has no series here.
        assert isinstance(prometheus.query(query), list)
