"""A node is ready when the API says so and pods may come."""

from typing import Any

import pytest

from tests.testbed.parts.node.node import shows_ready

READY = {"type": "Ready", "status": "True"}
PRESSURE = {"type": "MemoryPressure", "status": "False"}
TAINT = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("node", "ready"),
    [
        ({"spec": {}, "status": {"conditions": [PRESSURE, READY]}}, True),
        ({"spec": {"taints": [TAINT]}, "status": {"conditions": [READY]}}, False),
        ({"spec": {}, "status": {"conditions": [{**READY, "status": "False"}]}}, False),
        ({"spec": {}, "status": {"conditions": [{**READY, "status": "Unknown"}]}}, False),
        ({"spec": {}, "status": {}}, False),
    ],
)
def test_it_takes_the_condition_and_no_taint(node: dict[str, Any], *, ready: bool) -> None:
    assert shows_ready(node) is ready
