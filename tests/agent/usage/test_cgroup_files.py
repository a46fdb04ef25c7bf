import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.usage.cgroup_files import (
    Membership,
    parse_keyed,
    parse_memberships,
    parse_single,
)
from nemutator_agent.usage.malformed import MalformedError

keys = st.from_regex(rb"[a-z_]{1,12}", fullmatch=True)


def test_version_2_has_one_line() -> None:
    assert parse_memberships(b"0::/system.slice/ssh.service\n") == (
        Membership(frozenset(), b"/system.slice/ssh.service"),
    )


def test_version_1_has_a_line_for_each_hierarchy() -> None:
    content = b"9:name=systemd:/\n4:memory:/docker/ab:c\r\n2:cpu,cpuacct:/x\n0::/\n"
    assert parse_memberships(content) == (
        Membership(frozenset({"name=systemd"}), b"/"),
        Membership(frozenset({"memory"}), b"/docker/ab:c\r"),
        Membership(frozenset({"cpu", "cpuacct"}), b"/x"),
        Membership(frozenset(), b"/"),
    )


def test_a_removed_group_keeps_its_name() -> None:
    assert parse_memberships(b"0::/gone (deleted)\n")[0].path == b"/gone"


@given(st.dictionaries(keys, st.integers(0, 2**63), min_size=1))
def test_each_key_is_found_and_none_is_taken_for_another(values: dict[bytes, int]) -> None:
    content = b"".join(b"%b %d\n" % item for item in values.items())
    for key, value in values.items():
        assert parse_keyed(content, key) == value
        assert parse_keyed(content.rstrip(b"\n"), key) == value
    with pytest.raises(MalformedError):
        parse_keyed(content, b"Missing")


def test_a_key_is_a_whole_word() -> None:
    content = b"total_inactive_file 1\ninactive_file_x 2\ninactive_file 3\n"
    assert parse_keyed(content, b"inactive_file") == 3


@given(st.binary(max_size=200), keys)
def test_anything_else_is_malformed(content: bytes, key: bytes) -> None:
    for parse in (parse_memberships, parse_single):
        with contextlib.suppress(MalformedError):
            parse(content)
    with contextlib.suppress(MalformedError):
        parse_keyed(content, key)
