import pytest
from nemutator_controller.history.row_choice import NotOneRowError, chosen
from nemutator_controller.sizing.keys import ContainerKey

KEYS = [
    ContainerKey("shop", "Deployment", "cart", "app"),
    ContainerKey("shop", "Deployment", "cart", "proxy"),
    ContainerKey("bank", "StatefulSet", "cart", "app"),
]


def named(namespace: str, kind: str, name: str = "cart") -> dict[str, str]:
    return {"namespace": namespace, "kind": kind, "name": name}


def test_one_row_is_named_by_its_workload_and_its_container() -> None:
    assert chosen(KEYS, named("bank", "statefulset"), {}) == KEYS[2]
    assert chosen(KEYS, named("shop", "Deployment"), {"container": "proxy"}) == KEYS[1]


@pytest.mark.parametrize(
    ("path", "query", "status", "says"),
    [
        (named("shop", "Deployment", "till"), {}, 404, "nothing is known"),
        (named("bank", "Deployment"), {}, 404, "nothing is known"),
        (named("shop", "Deployment"), {"container": "x"}, 404, "app, proxy"),
        (named("shop", "Deployment"), {}, 400, "app, proxy"),
    ],
)
def test_none_and_several_are_told_apart(
    path: dict[str, str], query: dict[str, str], status: int, says: str
) -> None:
    with pytest.raises(NotOneRowError) as found:
        chosen(KEYS, path, query)
    assert found.value.status == status
    assert says in f"{found.value} {found.value.remedy}"
