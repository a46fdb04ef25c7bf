"""What a process imports it keeps in memory: what only some moments need is not there before."""

import subprocess
import sys

import pytest

HEAVY = {"alembic", "google.protobuf", "grpc", "hvac", "numpy", "psutil", "requests", "sqlalchemy"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("role", "needed"),
    [
        ("nemutator_agent.app.mount", {"grpc"}),
        ("nemutator_agent.app.credentials", {"hvac", "requests"}),
        ("nemutator_agent.app.observe", {"psutil"}),
        ("nemutator_controller.app.admission", set()),
        ("nemutator_controller.app.brain", {"alembic", "numpy", "sqlalchemy"}),
        ("nemutator_ctl.__main__", set()),
        ("nemutator_init.__main__", set()),
    ],
)
def test_a_process_imports_what_it_needs_and_no_more(role: str, needed: set[str]) -> None:
    code = f"import {role}, sys; print(*sys.modules)"
    done = subprocess.run((sys.executable, "-c", code), check=True, capture_output=True, text=True)
    assert HEAVY & {*done.stdout.split()} <= needed
