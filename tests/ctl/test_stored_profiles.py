from typing import Literal

import pytest
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_ctl.stored_profiles import StoredProfile, chosen


def kept(identity: str, workload: str, measure: Literal["cpu", "heap"] = "cpu") -> StoredProfile:
    return StoredProfile(identity, "done", f"{workload}-1", workload, measure)


KEPT = [kept("1", "shop/cart"), kept("2", "till"), kept("3", "shop/cart"), kept("4", "test/web")]


def ids(workload: str, *more: StoredProfile) -> list[str]:
    return [one.id for one in chosen([*KEPT, *more], workload)]


def test_a_workload_is_named_with_or_without_its_namespace() -> None:
    assert ids("shop/cart") == ids("cart") == ["1", "3"]
    assert ids("till") == ["2"]
    assert ids("web", kept("5", "web")) == ["5"], "the whole name comes first"


def test_a_name_of_several_is_refused() -> None:
    with pytest.raises(OperatorError, match="shop/cart, test/cart") as refused:
        ids("cart", kept("5", "test/cart"))
    assert refused.value.code == ExitCode.USAGE


def test_a_name_of_none_says_which_there_are() -> None:
    with pytest.raises(OperatorError, match="called nothing is kept") as refused:
        ids("nothing")
    assert "shop/cart, test/web, till" in refused.value.remedy
    with pytest.raises(OperatorError) as none:
        chosen([], "x")
    assert "nemutator profile" in none.value.remedy
