import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.credentials.machine.stored_secrets import (
    LARGEST_BYTES,
    MOST,
    MOST_RULES,
    StoredSecret,
    StoredSecretError,
    changed,
    checked_rules,
    decode,
    encode,
    file_owner,
)
from nemutator_agent.identity.rules import CallerRule
from nemutator_common.secret import Secret

MINE = (CallerRule(uid=1000),)


def set_(
    secrets: dict[str, StoredSecret],
    name: str,
    value: str,
    rules: tuple[CallerRule, ...] = (),
    *,
    in_file: bool | None = None,
) -> dict[str, StoredSecret]:
    return changed(secrets, name, Secret(value), rules=rules, owner=1000, in_file=in_file, at=5.0)


def test_a_new_secret_is_for_who_set_it() -> None:
    made = set_({}, "db", "x")["db"]
    assert (made.version, made.rules, made.changed_at) == (1, MINE, 5.0)


def test_a_new_version_keeps_the_rules_unless_others_are_given() -> None:
    others = (CallerRule(executable="/usr/bin/app"),)
    first = set_({}, "db", "x", others)
    assert set_(first, "db", "y")["db"] == StoredSecret(
        value=Secret("y"), version=2, changed_at=5.0, rules=others
    )
    assert set_(first, "db", "y", MINE)["db"].rules == MINE
    assert first["db"].version == 1


def test_a_secret_stays_in_its_file_until_it_is_taken_out() -> None:
    first = set_({}, "db", "x", in_file=True)
    assert first["db"].in_file
    second = set_(first, "db", "y")
    assert second["db"].in_file
    assert decode(encode(second)) == second
    assert not set_(second, "db", "z", in_file=False)["db"].in_file
    assert not set_({}, "db", "x")["db"].in_file


@pytest.mark.parametrize(
    "rules",
    [
        (CallerRule(executable="/usr/bin/app"),),
        (CallerRule(uid=1, executable="/usr/bin/app"),),
        (CallerRule(uid=1, cgroup="/system.slice"),),
        (CallerRule(uid=1), CallerRule(uid=2)),
    ],
)
def test_a_rule_that_a_file_cannot_hold_has_no_file(rules: tuple[CallerRule, ...]) -> None:
    with pytest.raises(StoredSecretError, match="for one user"):
        set_({}, "db", "x", rules, in_file=True)
    with pytest.raises(StoredSecretError, match="for one user"):
        set_(set_({}, "db", "x", in_file=True), "db", "y", rules)
    assert file_owner(MINE) == 1000


def test_a_store_that_was_written_before_there_were_files_is_read() -> None:
    assert not decode(b'{"db":{"value":"x","version":1,"changed_at":5.0,"rules":["uid=1"]}}')[
        "db"
    ].in_file


@pytest.mark.parametrize("name", ["", "../x", "a/b", "a\n", ".hidden", "x" * 64, "a..b", "\0"])
def test_names_that_could_be_something_else_are_refused(name: str) -> None:
    with pytest.raises(StoredSecretError, match="a name has"):
        set_({}, name, "x")


def test_there_is_an_end_to_everything() -> None:
    with pytest.raises(StoredSecretError, match="bytes"):
        set_({}, "db", "ä" * (LARGEST_BYTES // 2 + 1))
    full = {f"s{n}": set_({}, "x", "x")["x"] for n in range(MOST)}
    with pytest.raises(StoredSecretError, match="the most"):
        set_(full, "one-more", "x")
    assert set_(full, "s0", "y")["s0"].version == 2
    with pytest.raises(StoredSecretError, match="rules"):
        checked_rules(["uid=1"] * (MOST_RULES + 1))


def test_a_rule_that_is_none_says_what_was_expected() -> None:
    with pytest.raises(StoredSecretError, match="expected uid="):
        checked_rules(["uid=1000", "everybody"])


rules = st.lists(
    st.builds(
        CallerRule,
        uid=st.integers(0, 2**32 - 2),
        executable=st.sampled_from([None, "/usr/bin/app"]),
        cgroup=st.sampled_from([None, "/system.slice/app.service"]),
    ),
    max_size=3,
).map(tuple)
stored = st.builds(
    StoredSecret,
    value=st.text(st.characters(exclude_categories=["Cs"])).map(Secret),
    version=st.integers(1, 10**6),
    changed_at=st.floats(0, 1e10),
    rules=rules,
)


@given(st.dictionaries(st.from_regex(r"[a-z]{1,8}", fullmatch=True), stored, max_size=4))
def test_what_is_written_is_read_back(secrets: dict[str, StoredSecret]) -> None:
    assert decode(encode(secrets)) == secrets


@pytest.mark.parametrize("plain", [b"", b"[]", b'{"db": 1}', b'{"db": {}}', b"\xff", b'{"db": []}'])
def test_what_is_no_store_is_refused(plain: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        decode(plain)
