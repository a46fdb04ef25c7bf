from nemutator_common.kube.configuration import Access, Fixed
from nemutator_common.secret import Secret


async def test_a_fixed_way_in_stays() -> None:
    access = Access(server="https://one:6443", token=Secret("t0ken"))
    assert await Fixed(access).access(renew=True) is access
    assert "t0ken" not in repr(access)
