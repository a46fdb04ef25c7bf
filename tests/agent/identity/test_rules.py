import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.identity.rules import (
    LARGEST_UID,
    LONGEST,
    CallerRule,
    parse_rule,
    split_cgroup,
)

names = st.text(
    st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="/,"),
    min_size=1,
    max_size=10,
).filter(lambda name: name not in {".", ".."})
paths = st.lists(names, min_size=1, max_size=4).map(lambda parts: "/" + "/".join(parts))
rules = st.builds(
    CallerRule,
    uid=st.none() | st.integers(0, LARGEST_UID),
    executable=st.none() | paths,
    cgroup=st.none() | paths | paths.map(lambda path: f"name=systemd:{path}"),
).filter(lambda rule: rule != CallerRule())


@given(rules)
def test_a_rule_is_read_as_it_is_written(rule: CallerRule) -> None:
    assert parse_rule(str(rule)) == rule


def test_parts_hold_together() -> None:
    rule = parse_rule("exe=/usr/bin/a,b,uid=1000,cgroup=memory:/x")
    assert rule == CallerRule(uid=1000, executable="/usr/bin/a,b", cgroup="memory:/x")
    assert split_cgroup("memory:/x:y") == ("memory", "/x:y")
    assert split_cgroup("/x:y") == (None, "/x:y")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "uid",
        "uid=",
        "uid=-1",
        "uid=root",
        "uid=²",
        f"uid={LARGEST_UID + 1}",
        "uid=1,uid=2",
        "gid=1",
        "uid=1,gid=2",
        "exe=sh",
        "exe=/bin/../sh",
        "exe=/bin/",
        "exe=/bin/sh\n",
        "cgroup=/",
        "cgroup=x",
        "cgroup=/a//b",
        "cgroup=/a/",
        "cgroup=/../a",
        "exe=/" + "a" * 5000,
    ],
)
def test_what_is_no_rule_admits_nobody(text: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        parse_rule(text)


def test_a_rule_may_be_as_long_as_any() -> None:
    longest = "exe=/".ljust(LONGEST, "x")
    assert str(parse_rule(longest)) == longest
    with pytest.raises(ValueError, match="expected"):
        parse_rule(longest + "x")
