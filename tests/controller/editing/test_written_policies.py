import pytest
import yaml
from nemutator_controller.editing.refusals import NotEditedError
from nemutator_controller.editing.written_policies import (
    LARGEST,
    policy_text,
    read_policy,
    with_lines,
)

TEXT = """# the team of each pod
apiVersion: nemutator.io/v1alpha1
kind: MutationPolicy
metadata:
  name: teams
spec:
  mode: Apply
  mutations:
  - labels:
      set:
        team: blue   # of the shop
"""


def test_a_policy_is_written_in_the_order_in_which_its_fields_are_explained() -> None:
    # As an API server has it: sorted by name.
    spec = {
        "mode": "Apply",
        "mutations": [{"labels": {"set": {"team": "blue"}}}],
        "zzz": 1,
        "applyTo": "pod",
        "match": {},
    }
    text = policy_text("teams", spec)
    assert list(yaml.safe_load(text)) == ["apiVersion", "kind", "metadata", "spec"]
    read = read_policy(text)
    assert read["spec"] == spec
    assert list(read["spec"]) == ["match", "applyTo", "mode", "mutations", "zzz"]
    assert policy_text("teams", read["spec"]) == text


@pytest.mark.parametrize("spec", [None, 3, [], "x"])
def test_what_an_api_server_stored_as_a_spec_is_written_whatever_it_is(spec: object) -> None:
    assert read_policy(policy_text("teams", spec))["spec"] == spec


def test_comments_are_no_part_of_what_is_stored() -> None:
    spec = read_policy(TEXT)["spec"]
    assert spec == {"mode": "Apply", "mutations": [{"labels": {"set": {"team": "blue"}}}]}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a: 1\nb: [\n", "line 3: expected the node content"),
        ("a: &x 1\nb: *x\n", "line 2: aliases are not taken"),
        (f"{TEXT}---\n{TEXT}", "2 documents"),
        ("# nothing\n", "0 documents"),
        ("- a\n", "line 1: expected apiVersion"),
        ("\ud800", "half of a character"),
        ("a: " + "x" * LARGEST, f"larger than {LARGEST} bytes"),
    ],
)
def test_what_is_no_policy_is_refused_with_its_line(text: str, why: str) -> None:
    with pytest.raises(NotEditedError, match=why):
        read_policy(text)


def test_a_fault_names_the_line_of_its_field() -> None:
    assert (
        with_lines(
            [
                "spec.mode: invalid enum value 'x'",
                "spec.mutations[0]: object contains unknown field `labels`; see kubectl explain",
                "apiVersion and kind: expected",
                "the document: expected an object",
            ],
            TEXT,
        )
        == "line 7: spec.mode: invalid enum value 'x'; line 9: spec.mutations[0]: object contains "
        "unknown field `labels`; see kubectl explain; line 2: apiVersion and kind: expected; "
        "the document: expected an object"
    )
