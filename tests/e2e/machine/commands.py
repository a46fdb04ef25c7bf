"""What tests ask of `nemutator up` in a guest."""

import json
from typing import Any

from tests.testbed.parts.machine.machine import Machine

DATA = "--data-dir=/run/nemutator-test"

Rows = dict[str, dict[str, Any]]


def groups(machine: Machine) -> Rows:
    """What is reported of control groups, by their path."""
    (node,) = json.loads(machine.run("nemutator", "topology", DATA, "-o", "json"))["nodes"]
    return {row["path"]: row for row in node["workloads"]}
