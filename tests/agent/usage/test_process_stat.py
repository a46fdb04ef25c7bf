import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.usage.malformed import MalformedError
from nemutator_agent.usage.process_stat import ProcessStat, parse_process_stat

TAIL = (
    b"S 1 8117 8117 0 -1 %d 98 0 0 0 250 150 0 0 20 0 14 0 147440 3133440 357 18446744073709551615"
    b" 93984187437056 93984187456937 140737448810880 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
)


@given(st.binary(max_size=64))
def test_any_command_is_told_from_what_follows(command: bytes) -> None:
    stat = parse_process_stat(b"8130 (%b) " % command + TAIL % 4194304)
    assert stat == ProcessStat(command, "S", False, 400, 14, 147440, 357)


@pytest.mark.parametrize("command", [b") R 1 (", b"a\nb", b"(sd-pam)", b"", b"\xff\x00"])
def test_commands_that_look_like_fields(command: bytes) -> None:
    assert parse_process_stat(b"1 (%b) " % command + TAIL % 0).command == command


def test_a_kernel_thread_is_known_by_its_flag() -> None:
    assert parse_process_stat(b"2 (kthreadd) " + TAIL % 0x208040).kernel_thread


@given(st.binary(max_size=300))
def test_anything_else_is_malformed(content: bytes) -> None:
    with contextlib.suppress(MalformedError):
        parse_process_stat(content)


@given(st.integers(0, 70))
def test_a_line_that_was_cut_is_malformed(length: int) -> None:
    with pytest.raises(MalformedError):
        parse_process_stat((b"1 (x) " + TAIL % 0)[:length])


@pytest.mark.parametrize("content", [b"(x) ", b"1 x) ", b"1 (x "])
def test_a_line_without_number_or_brackets_is_malformed(content: bytes) -> None:
    with pytest.raises(MalformedError, match="in brackets"):
        parse_process_stat(content + TAIL % 0)
