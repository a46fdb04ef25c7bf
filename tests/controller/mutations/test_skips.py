"""What a pod says that it does not want, in our words and in the first nemutator's."""

import pytest
from nemutator_controller.mutations.skips import VERBS, Skips, skips_of
from nemutator_controller.policies import verbs

SKIP, SKIP_MUTATION = "nemutator.io/skip", "nemutator.io/skip-mutation"


@pytest.mark.parametrize(
    ("annotations", "expected"),
    [
        ({}, Skips()),
        ({SKIP: "true"}, Skips(everything=True)),
        ({SKIP: "True "}, Skips(everything=True)),
        ({SKIP: "false"}, Skips()),
        ({SKIP: "yes"}, Skips(everything=True)),
        ({SKIP: "1"}, Skips(everything=True)),
        ({SKIP: "No"}, Skips()),
        ({SKIP: "off"}, Skips()),
        ({SKIP: "0"}, Skips()),
        ({SKIP: ""}, Skips()),
        ({SKIP: "always"}, Skips(everything=True, unknown=((SKIP, "always"),))),
        ({SKIP_MUTATION: "Labels,ENV"}, Skips(verbs=frozenset({"env", "labels"}))),
        ({SKIP_MUTATION: "prom-metrics"}, Skips(verbs=frozenset({"prom_metrics"}))),
        ({SKIP_MUTATION: "true"}, Skips(everything=True)),
        ({SKIP_MUTATION: "env labels"}, Skips(verbs=frozenset({"env", "labels"}))),
        ({SKIP_MUTATION: "env,labels"}, Skips(verbs=frozenset({"env", "labels"}))),
        ({SKIP_MUTATION: " env ,, labels "}, Skips(verbs=frozenset({"env", "labels"}))),
        ({SKIP: "labels"}, Skips(verbs=frozenset({"labels"}))),
        ({SKIP_MUTATION: "selector"}, Skips(verbs=frozenset({"selectors"}))),
        ({SKIP_MUTATION: "prom_resources"}, Skips(verbs=frozenset({"prom_metrics"}))),
        ({SKIP_MUTATION: "images"}, Skips(verbs=frozenset({"image"}))),
        ({SKIP_MUTATION: "nodeSelector"}, Skips(verbs=frozenset({"nodeSelector"}))),
        ({SKIP_MUTATION: "node-selector"}, Skips(verbs=frozenset({"nodeSelector"}))),
        ({SKIP_MUTATION: "toleration"}, Skips(verbs=frozenset({"tolerations"}))),
        ({SKIP_MUTATION: "image_pull_secret"}, Skips(verbs=frozenset({"imagePullSecrets"}))),
        ({SKIP_MUTATION: "patch"}, Skips(preview=True)),
        (
            {SKIP_MUTATION: "patch nothing"},
            Skips(preview=True, unknown=((SKIP_MUTATION, "nothing"),)),
        ),
        ({"other/skip": "true"}, Skips()),
    ],
)
def test_both_ways_to_say_it_are_understood(annotations: dict[str, str], expected: Skips) -> None:
    assert skips_of(annotations) == expected


def test_each_verb_of_policies_can_be_declined() -> None:
    assert set(verbs.VERBS) <= VERBS
