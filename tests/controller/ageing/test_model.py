from dataclasses import replace

from tests.fakes.ageing import SHOP


def test_each_workload_and_program_has_an_id_of_its_own() -> None:
    others = [replace(SHOP, **{name: "x"}) for name in ("namespace", "owner_kind", "owner")]
    others += [replace(SHOP, container="x"), replace(SHOP, program="x")]
    assert len({one.id for one in [SHOP, *others]}) == 6
    assert replace(SHOP, namespace="a\udcff").id
