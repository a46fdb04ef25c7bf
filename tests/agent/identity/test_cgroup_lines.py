import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.identity.cgroup_lines import (
    LONGEST_TEXT,
    UNIFIED,
    CgroupLine,
    line_of,
    parse_lines,
)
from nemutator_agent.identity.failures import AttestationError

HYBRID = "9:name=systemd:/init\n4:memory:/a\n2:cpu,cpuacct:/a/b\n0::/c\n"

# What the kernel lets a directory be called in cgroupfs: anything but a slash and a newline.
names = st.text(
    st.characters(exclude_characters="/\n\0", exclude_categories=["Cs"]), min_size=1, max_size=20
).filter(lambda name: not name.endswith(" (deleted)"))
paths = st.lists(names, max_size=5).map(lambda parts: "/" + "/".join(parts))


def test_each_hierarchy_is_found_by_each_of_its_names() -> None:
    lines = parse_lines(HYBRID)
    assert [
        line.path if line else None
        for line in (line_of(lines, name) for name in ("cpuacct", "name=systemd", UNIFIED, "rdma"))
    ] == ["/a/b", "/init", "/c", None]


@given(paths, paths)
def test_no_name_of_a_group_reaches_beyond_its_own_line(first: str, second: str) -> None:
    lines = parse_lines(f"4:memory:{first}\n0::{second}\n")
    assert lines == (CgroupLine(frozenset({"memory"}), first), CgroupLine(frozenset(), second))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "0::",
        "0::relative\n",
        "0:/\n",
        "x::/\n",
        "²::/\n",
        "-1::/\n",
        "1::/\n",
        "0:memory:/\n",
        "1:cpu,:/\n",
        "0::/\n0::/a\n",
        "1:cpu:/\n2:cpu,memory:/a\n",
        "0::/a\n\n",
        "0::/a\0b\n",
        "0::/gone (deleted)\n",
        "0::/" + "a" * LONGEST_TEXT,
    ],
)
def test_a_text_that_is_odd_proves_nothing(text: str) -> None:
    with pytest.raises(AttestationError) as refused:
        parse_lines(text)
    assert refused.value.step == "cgroup"


@given(st.text(max_size=100))
def test_any_text_gives_absolute_paths_or_a_refusal(text: str) -> None:
    with contextlib.suppress(AttestationError):
        assert all(line.path.startswith("/") for line in parse_lines(text))
