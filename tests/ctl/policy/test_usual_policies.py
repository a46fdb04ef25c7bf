"""The tables of usual policies in docs/mutations.md: what can be written changes a pod, and is counted."""

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
ALONE, _, WITH_MATCH = SECTION.partition("\n### ")
ROW = re.compile(r"^\| (.+?) \| (`.+`|not yet) \|$", re.MULTILINE)
ROWS = ROW.findall(ALONE)
SPECS = [spec.strip("`") for _, spec in ROW.findall(WITH_MATCH)]
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


@pytest.mark.parametrize("spec", SPECS)
def test_a_policy_for_some_changes_a_pod_of_theirs_and_no_other(spec: str) -> None:
    policy = policy_of("usual", {"mode": "Apply", **yaml.safe_load(spec)})
    pod = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"serviceAccountName": "default", "containers": [{"name": "app"}]},
    }
    theirs = Situation(
        subject=Subject(
            api_version="v1", kind="Pod", namespace="shop", name="web-1",
            owner_kind="Job", owner_name="web",
        ),
        namespace_labels={"mesh": "on"},
        user="system:serviceaccount:ci:bot",
    )  # fmt: skip
    planned = plan(pod, theirs, [policy])
    assert planned.edits
    assert planned.warnings == ()
    container = {"name": "app", "resources": {"requests": {"cpu": "1"}}}
    other = {"metadata": {}, "spec": {"serviceAccountName": "own", "containers": [container]}}
    elsewhere = Situation(
        subject=Subject(api_version="v1", kind="Pod", namespace="legacy-1", name="db")
    )
    is_for_all = "match" not in yaml.safe_load(spec)
    assert is_for_all or not plan(other, elsewhere, [policy]).edits


def test_there_are_as_many_as_the_heading_says() -> None:
    assert WITH_MATCH.startswith("Ten more")
    assert len(SPECS) == 10
