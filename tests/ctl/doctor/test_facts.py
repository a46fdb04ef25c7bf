from nemutator_ctl.doctor.facts import Unread


def test_what_was_not_read_is_not_taken_for_absent() -> None:
    assert not Unread("Permission denied").absent
