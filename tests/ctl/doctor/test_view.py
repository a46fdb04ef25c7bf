import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_ctl.doctor.checks import State
from nemutator_ctl.doctor.facts import DoctorFacts
from nemutator_ctl.doctor.findings import Finding, examine
from nemutator_ctl.doctor.view import document, view

from tests.ctl.doctor.machines import CONTAINER_WITHOUT_SYS, DEBIAN_12, HYBRID_VM, MACHINES


@pytest.mark.parametrize("facts", MACHINES)
def test_each_loss_and_each_remedy_is_shown_whole(facts: DoctorFacts) -> None:
    shown = " ".join(view(examine(facts)).split())
    for finding in examine(facts):
        assert finding.lost in shown
        assert finding.remedy in shown


def test_the_last_line_sums_up() -> None:
    assert view(examine(DEBIAN_12)).endswith("nemutator runs here, without a limit.\n")
    assert view(examine(HYBRID_VM)).endswith("runs here; 1 of 21 checks found a limit.\n")
    container = view(examine(CONTAINER_WITHOUT_SYS))
    assert container.endswith("nemutator needs what is missing: pidfd, control groups.\n")


@given(st.text())
def test_what_was_found_cannot_draw_on_a_terminal(found: str) -> None:
    shown = view([Finding("kernel", "profiles", State.OK, found)])
    assert all(character.isprintable() or character == "\n" for character in shown)
    assert len(shown.splitlines()) == 4


@pytest.mark.parametrize("facts", MACHINES)
def test_the_document_has_all_of_it(facts: DoctorFacts) -> None:
    findings = examine(facts)
    read = json.loads(json.dumps(document(findings)))
    assert read["apiVersion"] == "nemutator.io/v1"
    assert [one["check"] for one in read["findings"]] == [one.check for one in findings]
    assert [one["state"] for one in read["findings"]] == [one.state.value for one in findings]
