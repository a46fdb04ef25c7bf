import re

import nemutator_bpf
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.profiler import bpf_maps
from nemutator_agent.profiler.bcc_source import source

FILES = nemutator_bpf.sources()
WISH = bpf_maps.WISH.pack(1234, 5678, 2, 1, 127, 0)
PROGRAMS = ("sample", "off_cpu")


@pytest.mark.parametrize("program", PROGRAMS)
def test_nothing_that_only_libbpf_knows_is_left(program: str) -> None:
    text = source(FILES, program, wish=WISH, entries={})
    for word in (
        '#include "',
        "SEC(",
        "MAP_NUMBER",
        "MAP_TYPE",
        "bpf_map_",
        "__builtin_preserve",
        "LICENSE",
    ):
        assert word not in text
    assert len(re.findall(r"^int (sample|off_cpu)\(", text, re.MULTILINE)) == 1


@pytest.mark.parametrize("program", PROGRAMS)
def test_each_file_is_there_once_and_the_kernels_is_that_of_its_headers(program: str) -> None:
    text = source(FILES, program, wish=WISH, entries={})
    assert "#include <linux/sched.h>" in text
    for guard in ("MAPS_H", "STACKS_H", "SELECTION_H", "GOROUTINES_H"):
        assert text.count(f"#define {guard}\n") == 1
    assert "NEMUTATOR_KERNEL_H" not in text


def test_maps_are_tables_of_the_size_that_the_session_wishes() -> None:
    text = source(FILES, "sample", wish=WISH, entries={"stacks": 10})
    assert 'BPF_TABLE("hash", u64, struct stack, stacks, 10);' in text
    assert 'BPF_TABLE("hash", struct row, u64, rows, 16384);' in text
    assert 'BPF_TABLE("percpu_array", u32, struct counters, counters, 1);' in text
    assert "stacks.insert(&hash, stack)" in text
    assert "rows.lookup(row)" in text
    waits = source(FILES, "off_cpu", wish=WISH, entries={})
    assert "waits.update(&thread, &wait)" in waits
    assert "waits.delete(&thread)" in waits


@given(st.integers(0, (1 << 64) - 1), st.integers(0, (1 << 64) - 1))
def test_the_wish_is_a_constant_of_the_text(wanted: int, seed: int) -> None:
    wish = bpf_maps.WISH.pack(wanted, seed, 3, 2, 64, 0)
    text = source(FILES, "sample", wish=wish, entries={})
    assert f".wanted = {wanted}ULL, .seed = {seed}ULL, .selection = 3ULL" in text
    assert "struct wish {" in text


def test_what_is_not_rewritten_is_an_error_and_never_compiled() -> None:
    files = {"new.bpf.c": "int new(void *c)\n{\n\treturn bpf_map_push_elem(&queue, c, 0);\n}\n"}
    with pytest.raises(ValueError, match="bpf_map_push_elem is not rewritten"):
        source(files, "new", wish=WISH, entries={})
