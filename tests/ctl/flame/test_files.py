from pathlib import PurePath

import pytest
from nemutator_common.errors import OperatorError
from nemutator_common.profiles.model import Weighed
from nemutator_ctl.flame.files import RENDERINGS, rendering

from tests.common.profiles.made import small
from tests.ctl.flame.test_view import HEAP


@pytest.mark.parametrize("end", RENDERINGS)
def test_the_end_of_the_name_decides_what_is_saved(end: str) -> None:
    render = rendering(PurePath(f"x{end}"))
    assert render(small(), "cart")
    assert render(HEAP, "cart")


def test_other_ends_are_refused_and_so_is_what_pprof_cannot_hold() -> None:
    with pytest.raises(OperatorError, match="the end of the name decides"):
        rendering(PurePath("x.svg"))
    with pytest.raises(OperatorError, match="only CPU and heap profiles are written as pprof"):
        rendering(PurePath("x.pb.gz"))(Weighed(frames=(), stacks=()), "x")
