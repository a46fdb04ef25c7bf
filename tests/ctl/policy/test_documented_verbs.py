"""Each verb has an example in docs/mutations.md, and does what is shown there."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from nemutator_controller.policies.model import policy_of
from nemutator_controller.policies.verbs import VERBS
from nemutator_ctl.policy.trial import InputFile, attempt

PAGE = (Path(__file__).parents[3] / "docs" / "mutations.md").read_text()
[SECTION] = re.findall(r"^## The verbs\n(.*?)^## ", PAGE, re.MULTILINE | re.DOTALL)
BEGINNING, *PARTS = re.split(r"^### ", SECTION, flags=re.MULTILINE)


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def examples() -> Iterator[tuple[str, str, str]]:
    for part in PARTS:
        verb = part.partition("\n")[0]
        for wanted, shown in zip(blocks(part, "yaml"), blocks(part, "text"), strict=True):
            yield verb, wanted, shown


def test_each_verb_has_its_example() -> None:
    assert tuple(dict.fromkeys(verb for verb, _, _ in examples())) == VERBS


@pytest.mark.parametrize(("verb", "wanted", "shown"), list(examples()))
def test_a_verb_does_what_its_example_shows(verb: str, wanted: str, shown: str) -> None:
    mutation = yaml.safe_load(wanted)
    assert list(mutation) == [verb]
    policy = {
        "apiVersion": "nemutator.io/v1alpha1",
        "kind": "MutationPolicy",
        "metadata": {"name": "example"},
        "spec": {"mode": "Apply", "applyTo": "template", "mutations": [mutation]},
    }
    [deployment] = blocks(BEGINNING, "yaml")
    files = InputFile("p", json.dumps(policy).encode()), InputFile("d", deployment.encode())
    report = attempt(files)
    assert report.faults == ()
    assert report.text == f"Deployment shop/web\n{shown}"


def test_what_the_page_shows_of_a_policy_is_sound() -> None:
    one = {"mutations": [{"labels": {"set": {"a": "b"}}}]}
    parts = [yaml.safe_load(each) for each in blocks(PAGE, "yaml")]
    shown = [each for each in parts if {"match", "spec"} & each.keys()]
    policies = [each for each in shown if "selector" not in each.get("spec", {})]
    assert len(policies) == 3
    for each in policies:
        policy_of("p", one | each.get("spec", {"match": each.get("match", {})}))
