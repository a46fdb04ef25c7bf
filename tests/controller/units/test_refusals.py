from nemutator_controller.units.refusals import UnitRefusedError, UnitsUnavailableError


def test_each_says_what_and_what_to_do_about_it() -> None:
    for kind in (UnitRefusedError, UnitsUnavailableError):
        error = kind("what is wrong", "the remedy")
        assert (str(error), error.remedy) == ("what is wrong", "the remedy")
