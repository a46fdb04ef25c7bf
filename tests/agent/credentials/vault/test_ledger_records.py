import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.credentials.leases.states import LeaseHolding, LeaseState, granted
from nemutator_agent.credentials.vault.accounts import Account
from nemutator_agent.credentials.vault.documents import GivenLease
from nemutator_agent.credentials.vault.leases import LONGEST_S, Lease, hold
from nemutator_agent.credentials.vault.ledger_records import (
    FORMAT,
    LARGEST,
    MOST_INTENTS,
    MOST_LEASES,
    MOST_TOKENS,
    LeaseEnded,
    LeaseRenewed,
    LedgerEntries,
    LedgerFormat,
    LedgerLease,
    LedgerToken,
    LoginIntent,
    Record,
    TokenRenewed,
    TokenRevoked,
    all_encoded,
    encoded,
    held_of,
    lease_of,
    read,
    recovered,
    token_of,
)
from nemutator_agent.publications import PublishedPod
from nemutator_common.secret import Secret

ACCOUNT = Account(PublishedPod("shop", "api-1", "u-1", "api"), "shop.api")

texts = st.text(max_size=4)
pods = st.builds(PublishedPod, texts, texts, st.just("u-1"), st.just("api"))
accounts = st.builds(Account, pods, texts)
entries = st.integers(1, 8)
times = st.floats(0, 1e10)
tokens = st.builds(LedgerToken, entries, accounts, texts.map(Secret), times, times, st.booleans())
records: st.SearchStrategy[Record] = st.one_of(
    st.builds(LoginIntent, entries, accounts, times),
    tokens,
    st.builds(TokenRenewed, entries, times, times, st.booleans()),
    st.builds(TokenRevoked, entries),
    st.builds(LedgerLease, entries, entries, texts, texts, times, times, st.booleans()),
    st.builds(LeaseRenewed, entries, times),
    st.builds(LeaseEnded, entries),
)
rows = st.lists(records, max_size=5)


def token(entry: int = 1, *, expires_at: float = 5000.0, ttl_s: float = 3600.0) -> LedgerToken:
    return LedgerToken(entry, ACCOUNT, Secret("hvs.x"), expires_at, ttl_s, renewable=True)


def folded(row: list[Record]) -> LedgerEntries:
    made = LedgerEntries()
    for record in row:
        made.apply(record)
    return made


@given(rows)
def test_what_is_written_is_read(row: list[Record]) -> None:
    assert read(all_encoded(row)) == (folded(row), 0)


@given(rows)
def test_the_shortest_row_comes_to_the_same(row: list[Record]) -> None:
    whole = folded(row)
    again, damaged = read(all_encoded(whole.records()))
    assert (again.intents, again.tokens, damaged) == (whole.intents, whole.tokens, 0)
    assert again.leases == whole.leases


@given(st.lists(records, min_size=1, max_size=5), st.data())
def test_a_torn_end_costs_the_last_record_alone(row: list[Record], data: st.DataObject) -> None:
    last = len(encoded(row[-1]))
    torn = data.draw(st.integers(1, last))
    content = all_encoded(row)
    assert read(content[: len(content) - torn]) == (folded(row[:-1]), last - torn)


@given(st.lists(records, min_size=1, max_size=5), st.data())
def test_a_garbled_record_ends_the_reading_and_hurts_none_before_it(
    row: list[Record], data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(row) - 1))
    before, content = all_encoded(row[:at]), bytearray(all_encoded(row))
    where = data.draw(st.integers(len(before), len(before) + len(encoded(row[at])) - 1))
    content[where] ^= data.draw(st.integers(1, 255))
    assert read(bytes(content)) == (folded(row[:at]), len(content) - len(before))


@given(st.binary(max_size=200))
def test_what_somebody_else_has_written_says_nothing(content: bytes) -> None:
    assert read(content) == (LedgerEntries(), len(content))


@pytest.mark.parametrize("zeros", [1, 8, 4096])
def test_zeros_are_no_record(zeros: int) -> None:
    start = encoded(token())
    assert read(start + bytes(zeros)) == (folded([token()]), zeros)


def test_one_that_is_too_large_is_not_read_either() -> None:
    body = encoded(token())[8:].ljust(LARGEST + 1)
    content = struct.pack(">II", len(body), zlib.crc32(body)) + body
    assert read(content) == (LedgerEntries(), len(content))


def test_one_that_is_too_large_is_not_written() -> None:
    long = LedgerToken(1, ACCOUNT, Secret("x" * LARGEST), 0.0, 0.0, renewable=False)
    with pytest.raises(ValueError, match="a record of"):
        encoded(long)


def test_a_token_is_never_shown() -> None:
    assert "hvs.x" not in repr(token()) + str(folded([token()]))


def test_all_of_one_login_have_its_number() -> None:
    made = folded([LoginIntent(1, ACCOUNT, 0.0), token(1), LoginIntent(2, ACCOUNT, 1.0)])
    assert (list(made.intents), list(made.tokens), made.last) == ([2], [1], 2)
    made.apply(TokenRenewed(1, 9000.0, 1800.0, renewable=False))
    assert (made.tokens[1].expires_at, made.tokens[1].ttl_s) == (9000.0, 1800.0)
    assert made.tokens[1].token == Secret("hvs.x")
    made.apply(TokenRevoked(1))
    made.apply(TokenRevoked(2))
    made.apply(TokenRenewed(1, 9000.0, 1800.0, renewable=False))
    assert not any((made.intents, made.tokens, made.knows(1), made.knows(2)))


def test_there_is_an_end_to_how_much_is_kept() -> None:
    made = LedgerEntries()
    forgotten = sum(made.apply(token(entry)) for entry in range(1, MOST_TOKENS + 4))
    assert (forgotten, len(made.tokens), min(made.tokens)) == (3, MOST_TOKENS, 4)
    forgotten = sum(
        made.apply(LoginIntent(9999 + n, ACCOUNT, 0.0)) for n in range(MOST_INTENTS + 2)
    )
    assert (forgotten, len(made.intents)) == (2, MOST_INTENTS)


@given(
    ttl_s=st.floats(0, 2 * LONGEST_S),
    age_s=st.floats(0, 2 * LONGEST_S),
    monotonic=st.floats(0, 1e6),
)
def test_the_next_life_goes_on_with_the_times_of_the_last(
    ttl_s: float, age_s: float, monotonic: float
) -> None:
    lease = Lease(Secret("hvs.x"), ttl_s, renewable=True)
    held = hold(lease, 77.0, entry=3, roll=0.25)
    written = token_of(ACCOUNT, held, now=1e9, monotonic=77.0)
    again = held_of(written, now=1e9 + age_s, monotonic=monotonic, roll=0.25)
    assert (again.lease, again.entry) == (lease, 3)
    assert again.ends - monotonic == pytest.approx(held.ends - 77.0 - age_s, abs=1e-3)
    assert again.renew - monotonic == pytest.approx(held.renew - 77.0 - age_s, abs=1e-3)


def test_a_wall_clock_that_was_put_back_gives_no_more_time() -> None:
    again = held_of(token(expires_at=1e6, ttl_s=3600), now=0.0, monotonic=5.0, roll=0.5)
    assert again.ends == 3605.0


def lent(entry: int, token: int = 1) -> LedgerLease:
    return LedgerLease(entry, token, "database/creds/a", f"lease-{entry}", 5000.0, 90.0, True)


def test_leases_end_with_their_token() -> None:
    made = folded([token(1), lent(2), token(3), lent(4, 3), lent(5), LeaseEnded(5)])
    assert list(made.leases) == [2, 4]
    made.apply(LeaseRenewed(2, 7000.0))
    assert made.leases[2].expires_at == 7000.0
    made.apply(TokenRevoked(1))
    assert (list(made.leases), made.knows(4), made.knows(2)) == ([4], True, False)


def test_there_is_no_lease_without_its_token() -> None:
    assert folded([lent(2)]).leases == {}
    full = folded([token(1), lent(2)])
    for entry in range(3, MOST_TOKENS + 3):
        full.apply(token(entry))
    assert full.leases == {}


def test_there_is_an_end_to_how_many_leases_are_kept() -> None:
    made = folded([token(1)])
    forgotten = sum(made.apply(lent(entry)) for entry in range(2, MOST_LEASES + 5))
    assert (forgotten, len(made.leases), min(made.leases)) == (3, MOST_LEASES, 5)


def test_a_file_from_before_there_were_leases_is_read() -> None:
    """As the version before wrote it."""
    body = (
        b'{"type":"token","entry":7,"account":{"pod":{"namespace":"shop","name":"api-1",'
        b'"uid":"u-1","service_account":"api"},"role":"shop.api","home":"/v"},'
        b'"token":"hvs.x","expires_at":5000.0,"ttl_s":3600.0,"renewable":true}'
    )
    entries, damaged = read(struct.pack(">II", len(body), zlib.crc32(body)) + body)
    assert (entries.tokens[7].token, entries.leases, damaged) == (Secret("hvs.x"), {}, 0)


def test_what_a_later_version_has_written_is_left_alone() -> None:
    content = encoded(LedgerFormat(FORMAT + 1)) + encoded(token())
    assert read(content) == (LedgerEntries(), len(content))


@given(age_s=st.floats(0, 200), monotonic=st.floats(0, 1e6), renewable=st.booleans())
def test_a_lease_goes_on_with_its_times(age_s: float, monotonic: float, renewable: bool) -> None:
    given_first = GivenLease("database/creds/a/1", 90.0, renewable)
    holding = granted(LeaseHolding(), given_first, 77.0, roll=0.5)
    written = lease_of(2, "database/creds/a", holding, 1, now=1e9, monotonic=77.0)
    again = recovered(written, now=1e9 + age_s, monotonic=monotonic, roll=0.5)
    assert (again.lease_id, again.token, again.entry) == (given_first.id, 1, 2)
    assert again.holding.state is (LeaseState.GRANTED if renewable else LeaseState.EXPIRING)
    assert again.holding.ends - monotonic == pytest.approx(90.0 - age_s, abs=1e-3)
    assert again.holding.due - monotonic == pytest.approx(60.0 - age_s, abs=1e-3)
