import string
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.admission_snapshots import LONGEST_IMAGE_NAME
from nemutator_controller.admission.snapshot_slices import advisor_slices
from nemutator_controller.admission.snapshots import (
    DIGEST_AWAITED,
    SnapshotError,
    images_from,
    tombstones_from,
)
from nemutator_controller.kube.quantities import parse_quantity
from nemutator_controller.mutations.advisor import NoAdvice, RecommendedAmount, WorkloadRef
from nemutator_controller.mutations.image_commands import AWAITED, ImageCommand, NoImageCommand
from nemutator_controller.mutations.image_digests import NoDigest

from tests.fakes.slices import whole

DIGEST = f"sha256:{'a' * 64}"
WEB = WorkloadRef("shop", "Deployment", "web")


def item(**changed: Any) -> dict[str, Any]:
    """As the brain writes it; `tests/contract/admission` has a real one."""
    return {
        "namespace": "shop",
        "owner_kind": "Deployment",
        "owner": "web",
        "container": "app",
        "strategy": "nemutator",
        "state": "firm",
        "reason": "",
        "points": 120,
        "more": {"that": "we do not know"},
        "requests": {"cpu": "70m", "memory": "128M"},
        "limits": {"cpu": None, "memory": "128M"},
        **changed,
    }


def advice(*items: dict[str, Any]) -> bytes:
    return msgspec.json.encode({"kind": "AdviceList", "items": items})


def test_firm_advice_is_an_amount_with_its_reason() -> None:
    advisor = whole(advisor_slices(advice(item())))
    cpu = advisor.advise(WEB, "app", "requests", "cpu")
    assert cpu == RecommendedAmount(parse_quantity("70m"), "nemutator, 120 points")
    memory = advisor.advise(WEB, "app", "limits", "memory")
    assert memory == RecommendedAmount(parse_quantity("128M"), "nemutator, 120 points")


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"state": "provisional", "reason": "12 of 100 points"}, "no firm advice yet: 12 of 100"),
        ({"state": "not_yet", "reason": "3 of 8 points"}, "no firm advice yet: 3 of 8"),
        ({"state": "better than firm"}, "no firm advice yet"),
        ({"container": "side"}, "has not seen this container"),
        ({"namespace": "other"}, "has not seen this container"),
        ({"owner_kind": "StatefulSet"}, "has not seen this container"),
        ({"requests": {}}, "nemutator gives no requests of cpu"),
        ({"requests": {"cpu": "much"}}, "the advice is not an amount"),
    ],
)
def test_everything_else_is_a_reason(changed: dict[str, Any], why: str) -> None:
    answer = whole(advisor_slices(advice(item(**changed)))).advise(WEB, "app", "requests", "cpu")
    assert isinstance(answer, NoAdvice)
    assert why in answer.reason


def test_of_what_nobody_measures_there_is_no_advice() -> None:
    answer = whole(advisor_slices(advice(item()))).advise(
        WEB, "app", "requests", "ephemeral-storage"
    )
    assert answer == NoAdvice("nemutator gives no requests of ephemeral-storage")


NAMES = st.text(string.ascii_lowercase, min_size=1, max_size=3)
STONES = st.tuples(NAMES, NAMES, NAMES, NAMES)


@given(st.lists(STONES))
def test_every_tombstone_is_found_by_its_workload(stones: list[tuple[str, str, str, str]]) -> None:
    keys = ("namespace", "owner_kind", "owner_name", "path")
    document = {"tombstones": [dict(zip(keys, stone, strict=True)) for stone in stones]}
    found = tombstones_from(msgspec.json.encode(document))
    assert {(*workload, path) for workload, paths in found.items() for path in paths} == {*stones}


@pytest.mark.parametrize(
    "document",
    [b"", b"{}", b"[]", b"\xff", b"[" * 100_000, b'{"items": 1, "tombstones": 1}', b"null"],
)
def test_nonsense_is_said_to_be_nonsense(document: bytes) -> None:
    with pytest.raises(SnapshotError):
        whole(advisor_slices(document))
    with pytest.raises(SnapshotError):
        tombstones_from(document)


class Questions:
    """An `ImageQuestioner`."""

    def __init__(self) -> None:
        self.unread: list[str] = []
        self.used: list[str] = []

    def add(self, image: str) -> None:
        self.unread.append(image)

    def use(self, image: str) -> None:
        self.used.append(image)


def images(*items: dict[str, Any], reads: bool = True, **more: Any) -> bytes:
    return msgspec.json.encode({"reads": reads, "images": items, "more": 1} | more)


def test_images_are_known_or_have_a_problem_or_are_asked_for() -> None:
    questions = Questions()
    known, _ = images_from(
        images(
            {"image": "web", "entrypoint": ["/e"], "arguments": ["serve"]},
            {"image": "gone", "problem": "it is not there"},
        ),
        questions,
    )
    assert known.of("web") == ImageCommand(("/e",), ("serve",))
    assert known.of("gone") == NoImageCommand("it is not there", soon=False)
    assert questions.unread == []
    assert known.of("new") == NoImageCommand(AWAITED, soon=True)
    assert questions.unread == ["new"]


def test_a_digest_is_known_or_its_registry_does_not_tell_or_it_is_asked_for() -> None:
    questions = Questions()
    commands, known = images_from(
        images(
            {"image": "web:1", "entrypoint": ["/e"]},
            {"image": "gone:1", "problem": "it is not there"},
            {"image": "odd:1", "problem": "its command is too long"},
            digests={"web:1": DIGEST, "odd:1": DIGEST, "restored:1": DIGEST},
        ),
        questions,
    )
    assert [known.digest(each) for each in ("web:1", "odd:1", "restored:1")] == [DIGEST] * 3
    assert known.digest("gone:1") == NoDigest("unread", "it is not there")
    assert (questions.used, questions.unread) == (["web:1", "odd:1", "restored:1"], [])
    assert known.digest("new:1") == NoDigest("awaited", DIGEST_AWAITED)
    long = known.digest("x" * (LONGEST_IMAGE_NAME + 1))
    assert isinstance(long, NoDigest)
    assert long.reason == "unread"
    assert questions.unread == ["new:1"]
    # What a policy has just pinned needs not be read once more.
    assert commands.of(f"web:1@{DIGEST}") == ImageCommand(("/e",), ())
    assert commands.of("web:1@sha256:other") == NoImageCommand(AWAITED, soon=True)


def test_a_pod_does_not_wait_for_what_will_not_be_read() -> None:
    questions = Questions()
    full, digests = images_from(
        images({"image": "web", "entrypoint": ["/e"]}, full=True), questions
    )
    assert full.of("web") == ImageCommand(("/e",), ())
    for image in ("new", "x" * (LONGEST_IMAGE_NAME + 1)):
        found = full.of(image)
        assert isinstance(found, NoImageCommand)
        assert not found.soon
    assert questions.unread == ["new"]  # There may be room by then.
    missing = digests.digest("new")
    assert isinstance(missing, NoDigest)
    assert missing.reason == "unread"


def test_a_brain_that_reads_no_images_is_not_asked() -> None:
    questions = Questions()
    commands, digests = images_from(images(reads=False), questions)
    assert commands.of("new") == NoImageCommand()
    missing = digests.digest("new")
    assert isinstance(missing, NoDigest)
    assert missing.reason == "off"
    assert questions.unread == []
    with pytest.raises(SnapshotError, match="not a list of images"):
        images_from(b'{"images": [{"image": 1}]}', questions)
