import pytest
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.profiles.model import Weighed
from nemutator_ctl.pgo.sources import cpu_profile, is_file

from tests.common.profiles.made import small
from tests.ctl.flame.test_view import HEAP


@pytest.mark.parametrize(
    "source", ["x.pb.gz", "cpu.pprof", "default.pgo", "./x", "/tmp/x", "a/b/c"]
)
def test_what_looks_like_a_file_is_one(source: str) -> None:
    assert is_file(source)


@pytest.mark.parametrize("source", ["shop", "shop/cart", "cart.v2"])
def test_a_workload_has_a_name_and_perhaps_a_namespace(source: str) -> None:
    assert not is_file(source)


def test_only_cpu_time_is_taken() -> None:
    assert cpu_profile("x.pb.gz", small()) == small()
    for other, kind in ((HEAP, "the heap"), (Weighed(frames=(), stacks=()), "something else")):
        with pytest.raises(OperatorError, match=kind) as refused:
            cpu_profile("x.pb.gz", other)
        assert refused.value.code == ExitCode.USAGE
