from nemutator_controller.units.documents import sized_unit
from nemutator_controller.units.unit_plans import SizedUnit, UnitPlan

PLAN = UnitPlan(
    unit="shop.service", file="/f", before=(), content="new", values=(), warnings=("mind",)
)


def test_a_file_that_was_not_there_is_null_and_an_empty_one_is_not() -> None:
    absent = sized_unit(SizedUnit(plan=PLAN, outcome="planned"))
    assert (absent.kind, absent.before, absent.content, absent.id) == ("SizedUnit", None, "new", "")
    before = UnitPlan(unit="u", file="/f", before=("",), content="new", values=(), warnings=())
    done = sized_unit(SizedUnit(plan=before, outcome="changed", decision="m1"))
    assert (done.before, done.outcome, done.id) == ("", "changed", "m1")
