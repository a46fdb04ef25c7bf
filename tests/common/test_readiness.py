from nemutator_common.readiness import Readiness


def test_it_is_ready_until_a_part_says_otherwise() -> None:
    readiness = Readiness()
    assert not readiness.problems()
    readiness.pass_("uplink")
    assert not readiness.problems()


def test_each_part_has_its_last_problem_until_it_passes() -> None:
    readiness = Readiness()
    readiness.fail("uplink", "no answer yet")
    readiness.fail("database", "locked")
    readiness.fail("uplink", "refused")
    assert readiness.problems() == {"uplink": "refused", "database": "locked"}
    readiness.pass_("uplink")
    assert readiness.problems() == {"database": "locked"}


def test_a_note_is_no_problem() -> None:
    readiness = Readiness()
    readiness.note("webhook", "anybody may call")
    assert readiness.notes() == {"webhook": "anybody may call"}
    assert not readiness.problems()
