"""The table of usual policies in docs/mutations.md: what can be written changes a pod, and is counted."""

import re
from pathlib import Path

import pytest
import yaml
from nemutator_controller.mutations.decisions import Subject
from nemutator_controller.policies.model import policy_of
from nemutator_controller.policies.plans import Situation, plan

PAGE = (Path(__file__).parents[3] / "docs" / "mutations.md").read_text()
[SECTION] = re.findall(
    r"^## What platform teams usually want\n(.*?)^## ", PAGE, re.MULTILINE | re.DOTALL
)
ROWS = re.findall(r"^\| (.+?) \| (`.+`|not yet) \|$", SECTION, re.MULTILINE)
MUTATIONS = [mutation.strip("`") for _, mutation in ROWS if mutation != "not yet"]

POD = {
    "metadata": {"annotations": {"example.com/note": "temporary"}},
    "spec": {
        "volumes": [{"name": "tmp", "emptyDir": {}}],
        "containers": [{"name": "app", "image": "ubuntu:14.04"}],
    },
}


def test_the_count_is_that_of_the_table() -> None:
    assert f"Of these {len(ROWS)} policies" in SECTION
    assert f"{len(MUTATIONS)} can be written" in SECTION


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_what_can_be_written_changes_a_pod(mutation: str) -> None:
    policy = policy_of("usual", {"mode": "Apply", "mutations": [yaml.safe_load(mutation)]})
    subject = Subject(api_version="v1", kind="Pod", namespace="shop", name="web")
    planned = plan(POD, Situation(subject=subject), [policy])
    assert planned.edits
    assert planned.warnings == ()
