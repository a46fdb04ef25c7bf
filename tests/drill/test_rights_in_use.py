"""Every right that our service accounts have is used by some test, as the API server's audit log has it.

It is the last one of a run of all tests that have our roles on a real API server:

    .venv/bin/python -m pytest -m 'e2e or drill' tests/e2e/first_light tests/e2e/testbed tests/drill/test_rights_in_use.py

What it cannot see there stands in `UNSEEN`, with the reason for which it is given nevertheless.
"""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.rights import Right, given_by, is_refused, right_in

TESTS = Path(__file__).parents[1]
DEPLOY = TESTS.parent / "deploy"
ROLES = (
    "manifests/brain.yaml",
    "manifests/admission.yaml",
    "nodes/nodes.yaml",
    "oversell/oversell.yaml",
    "buffers/buffer.yaml",
    "scaling/scaling.yaml",
)
WHOLE = ("e2e/first_light", "e2e/testbed")
"""Who runs only a part of these is not asked: its tests use a part of the rights."""

SAME_CODE = "the same code as for Deployments, whose rights are seen; tests/contract/journal has these kinds"
UNSEEN = {
    **{
        Right("nemutator-brain", verb, kind): SAME_CODE
        for kind, verbs in {
            "jobs.batch": ("get", "patch"),
            "cronjobs.batch": ("get", "patch"),
            "statefulsets.apps": ("get", "patch"),
        }.items()
        for verb in verbs
    },
}


def everything() -> list[dict[str, Any]]:
    return [
        document
        for file in ROLES
        for document in yaml.safe_load_all((DEPLOY / file).read_text())
        if document is not None
    ]


def is_whole(items: list[pytest.Item]) -> bool:
    run = {item.path for item in items}
    return all(run >= set((TESTS / folder).rglob("test_*.py")) for folder in WHOLE)


@pytest.mark.last
@pytest.mark.timeout(1200)
def test_every_right_of_our_processes_is_used_by_some_test(
    request: pytest.FixtureRequest,
) -> None:
    if not is_whole(request.session.items):
        pytest.skip("only all tests together use all rights: see the top of this file")
    cluster: Cluster = request.getfixturevalue("cluster")
    given = set(given_by(everything()))
    accounts = {right.account for right in given}
    used: set[Right] = set()
    refused: set[Right] = set()
    for event in cluster.audit(accounts):
        if (right := right_in(event)) is not None and right.account in accounts:
            (refused if is_refused(event) else used).add(right)
    # Only an API server without streaming lists is asked for lists, of the same things.
    unused = {one for one in given - used if one.verb != "list"}
    print("used:", *sorted(used & given), sep="\n  ")
    print("refused:", *sorted(refused), sep="\n  ")
    assert sorted(unused - UNSEEN.keys()) == [], "take it away, or write a test that needs it"
    assert sorted(UNSEEN.keys() - unused) == [], "there is a test that needs it now"
