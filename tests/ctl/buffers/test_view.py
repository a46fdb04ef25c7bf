from typing import Any

import msgspec
import pytest
from nemutator_common.errors import OperatorError
from nemutator_controller.buffers.documents import buffer_document
from nemutator_controller.buffers.model import BufferObject, BufferState, FoundBuffer
from nemutator_ctl.buffers.view import decode, overview


def answer(**changed: Any) -> Any:
    holder, other = (
        BufferObject(api_version="v", kind=kind, namespace="n", name="b", uid=kind, pods=pods)
        for kind, pods in (("CapacityBuffer", 1), ("Deployment", 2))
    )
    found = FoundBuffer(cpu_cores=1.5, memory_bytes=float(1 << 30), holder=holder, others=(other,))
    given: dict[str, Any] = {"at": 1.0, "wanted": 3, "why": "so", "found": found, **changed}
    document = buffer_document(BufferState(**given), most=4, now=2.0)
    return msgspec.json.decode(msgspec.json.encode(document))


def test_what_stands_is_beside_what_is_wanted() -> None:
    lines = overview(decode(answer())).splitlines()
    assert [line.split() for line in lines[1:3]] == [
        ["CapacityBuffer", "n/b", "1", "3"],
        ["Deployment", "n/b", "2", "0"],
    ]
    assert lines[3] == "so"
    assert lines[4] == "each pod keeps 1.5 cores and 1.00 GiB free; brain.buffer_pods allows 4"


def test_what_is_not_known_and_what_does_not_stand_is_said() -> None:
    text = overview(decode(answer(wanted=None, problem="forbidden")))
    assert "?" in text
    assert "it does not stand: forbidden" in text


def test_nothing_installed_is_one_sentence() -> None:
    assert overview(decode(answer(found=None, why="install it"))) == "install it\n"


def test_another_answer_is_one_message() -> None:
    with pytest.raises(OperatorError):
        decode({"items": 1})
