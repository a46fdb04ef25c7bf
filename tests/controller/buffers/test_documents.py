from nemutator_controller.buffers.documents import buffer_document
from nemutator_controller.buffers.model import BufferState


def test_before_the_first_look_nothing_is_claimed() -> None:
    found = buffer_document(BufferState(), most=3, now=9.0)
    assert (found["age_s"], found["wanted"], found["items"]) == (None, None, [])
    assert found["why"] == "nobody has looked yet"
