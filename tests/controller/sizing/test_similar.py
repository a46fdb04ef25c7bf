import msgspec
import pytest
from nemutator_controller.sizing.documents import Advice, RecommendedAmounts
from nemutator_controller.sizing.similar import MOST_SIMILAR, repository, with_similar

from tests.controller.sizing.firm_advice import KNOWN as FIRM

NOTHING = RecommendedAmounts()
KNOWN = msgspec.structs.replace(FIRM, requests_now=NOTHING)
NEW = msgspec.structs.replace(
    KNOWN,
    namespace="new",
    state="not_yet",
    reason="3 of 8 points, ask again in 75 s",
    requests=NOTHING,
    limits=NOTHING,
)


def changed(one: Advice, **fields: object) -> Advice:
    return msgspec.structs.replace(one, **fields)


def asking(cpu: str, memory: str | None) -> Advice:
    return changed(KNOWN, requests=RecommendedAmounts(cpu=cpu, memory=memory))


def guess(*known: Advice, image: str = "shop/cart") -> Advice:
    return with_similar([*known, NEW], [image] * (len(known) + 1))[-1]


def test_a_new_workload_is_guessed_by_others_of_its_image_and_it_says_so() -> None:
    found = guess(asking("100m", "200M"), asking("300m", "500M"), asking("900m", None))
    assert found.requests == RecommendedAmounts(cpu="300m", memory="500M")
    assert found.state == "provisional"
    assert found.reason == (
        "a guess by 3 other workloads of the image shop/cart: 3 of 8 points, ask again in 75 s"
    )
    assert (found.confidence.cpu, found.confidence.memory) == (0.2, 0.2)


def test_it_never_has_a_limit_and_is_never_firm() -> None:
    found = guess(KNOWN)
    assert (found.limits, found.state) == (NOTHING, "provisional")
    assert found.confidence.cpu == 0.1
    assert "by another workload" in found.reason


@pytest.mark.parametrize(
    "known",
    [
        changed(KNOWN, state="provisional"),
        changed(KNOWN, span_s=3_600.0),
        changed(KNOWN, container="proxy"),
        changed(KNOWN, requests=NOTHING),
    ],
)
def test_what_is_hardly_known_itself_is_nobodys_example(known: Advice) -> None:
    assert guess(known) == NEW


def test_without_an_image_nothing_is_guessed() -> None:
    assert guess(KNOWN, image="") == NEW
    assert with_similar([KNOWN, NEW], ["shop/cart", "shop/other"]) == [KNOWN, NEW]
    assert with_similar([], []) == []


def test_what_leaks_is_no_example_of_memory() -> None:
    found = guess(asking("100m", None))
    assert (found.requests.memory, found.confidence.memory) == (None, 0.0)


def test_who_has_a_value_keeps_it() -> None:
    young = changed(NEW, state="provisional", requests=RecommendedAmounts(cpu="7m"))
    assert with_similar([KNOWN, young], ["a", "a"])[1] == young


def test_no_more_than_so_many_are_compared() -> None:
    found = guess(*[KNOWN] * (MOST_SIMILAR + 10))
    assert f"{MOST_SIMILAR} other workloads" in found.reason


@pytest.mark.parametrize(
    ("image", "name"),
    [
        ("shop/cart", "shop/cart"),
        ("shop/cart:1.2", "shop/cart"),
        ("registry:5000/shop/cart", "registry:5000/shop/cart"),
        ("registry:5000/shop/cart:1.2@sha256:abc", "registry:5000/shop/cart"),
        ("cart@sha256:abc", "cart"),
        ("", ""),
    ],
)
def test_a_repository_is_an_image_without_its_version(image: str, name: str) -> None:
    assert repository(image) == name
