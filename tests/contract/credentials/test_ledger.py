"""The ledger on a disk: what a next life finds, and what happens when it cannot be written."""

import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from nemutator_agent.credentials.leases.states import LeaseHolding, granted
from nemutator_agent.credentials.vault.accounts import account
from nemutator_agent.credentials.vault.documents import GivenLease
from nemutator_agent.credentials.vault.leases import HeldLease, Lease, hold
from nemutator_agent.credentials.vault.ledger import COMPACT_BYTES, LedgerFile
from nemutator_agent.credentials.vault.ledger_records import LARGEST, MOST_INTENTS
from nemutator_common import names
from nemutator_common.readiness import Readiness
from nemutator_common.secret import Secret

from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.peers import OTHER_POD, POD
from tests.fakes.process import fake_process

ACCOUNT = account(POD, None)


class Place:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "ledger"
        self.clock = ManualClock()
        self.meter = MemoryMeter()
        self.readiness = Readiness()
        self._open: list[LedgerFile] = []

    def life(self) -> LedgerFile:
        made = LedgerFile(
            self.folder,
            process=fake_process(clock=self.clock, meter=self.meter, readiness=self.readiness),
        )
        self._open.append(made)
        return made

    def close(self) -> None:
        for ledger in self._open:
            ledger.close()

    def failures(self, reason: str) -> float:
        return self.meter.value(names.LEDGER_FAILURES, reason=reason)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path)
    yield made
    made.close()


def held(entry: int, *, token: str = "hvs.x", ttl_s: float = 3600) -> HeldLease:
    return hold(Lease(Secret(token), ttl_s, renewable=True), 0.0, entry=entry, roll=0.5)


def kept(ledger: LedgerFile, token: str = "hvs.x") -> HeldLease:
    made = held(ledger.intend(ACCOUNT), token=token)
    ledger.save(ACCOUNT, made)
    return made


def test_the_next_life_finds_what_the_last_has_left(place: Place) -> None:
    first = place.life()
    one, two, three = (kept(first, f"hvs.{number}") for number in range(3))
    first.renew(held(two.entry, ttl_s=9000))
    first.end(three.entry)
    first.intend(account(OTHER_POD, None))
    # No close(): it was killed.
    second = place.life()
    assert [token.token for token in second.left] == [Secret("hvs.0"), Secret("hvs.1")]
    assert [token.expires_at - place.clock.now() for token in second.left] == [3600, 9000]
    assert [token.entry for token in second.left] == [one.entry, two.entry]
    assert [intent.account.pod for intent in second.unfinished] == [OTHER_POD]
    assert second.intend(ACCOUNT) > two.entry
    assert place.life().left == second.left


def test_it_is_for_us_alone(place: Place) -> None:
    place.path.write_bytes(b"")
    place.path.chmod(0o666)
    kept(place.life())
    assert stat.S_IMODE(place.path.stat().st_mode) == 0o600
    assert [path.name for path in place.folder.iterdir()] == ["ledger"]


def test_a_torn_end_costs_what_was_torn_alone(place: Place) -> None:
    first = place.life()
    kept(first, "hvs.0")
    kept(first, "hvs.1")
    place.path.write_bytes(place.path.read_bytes()[:-5])
    second = place.life()
    assert [token.token for token in second.left] == [Secret("hvs.0")]
    # Of the second only its intent was whole.
    assert len(second.unfinished) == 1
    assert place.failures("damaged") == 1
    kept(second, "hvs.2")
    assert len(place.life().left) == 2
    assert place.failures("damaged") == 1


def test_what_is_no_ledger_is_none(place: Place) -> None:
    place.path.write_bytes(b"something else\n" * 100)
    assert place.life().left == ()
    assert place.failures("damaged") == 1
    assert not place.readiness.problems()


def test_it_does_not_grow_with_what_is_gone(place: Place) -> None:
    ledger = place.life()
    stays = kept(ledger, "hvs.stays")
    largest = 0
    for number in range(2000):
        ledger.end(kept(ledger, f"hvs.{number}").entry)
        largest = max(largest, place.path.stat().st_size)
    assert COMPACT_BYTES / 2 < largest < COMPACT_BYTES + LARGEST
    assert place.path.stat().st_size < largest
    assert [token.entry for token in place.life().left] == [stays.entry]


def test_there_is_an_end_to_logins_without_an_answer(place: Place) -> None:
    ledger = place.life()
    for _ in range(MOST_INTENTS + 3):
        ledger.intend(ACCOUNT)
    assert place.failures("full") == 3
    assert len(place.life().unfinished) == MOST_INTENTS


def test_what_is_not_in_it_costs_nothing(place: Place) -> None:
    ledger = place.life()
    size = place.path.stat().st_size
    ledger.end(0)
    ledger.end(77)
    ledger.renew(held(77))
    assert place.path.stat().st_size == size


def test_one_that_is_too_large_is_counted_and_hinders_no_other(place: Place) -> None:
    ledger = place.life()
    kept(ledger, "x" * LARGEST)
    kept(ledger, "hvs.1")
    assert place.failures("too_large") == 1
    assert [token.token for token in place.life().left] == [Secret("hvs.1")]
    assert not place.readiness.problems()


def test_one_that_cannot_be_written_is_said_and_all_is_made_up_for_later(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    in_the_way = place.folder / "ledger.new" / "x"
    in_the_way.mkdir(parents=True)
    first = place.life()
    kept(first, "hvs.0")
    kept(first, "hvs.1")
    assert place.failures("write") == 5
    assert "Vault tokens live until their own end" in place.readiness.problems()["ledger"]
    assert [record.message for record in caplog.records].count("ledger_not_saved") == 1
    assert "hvs." not in caplog.text
    in_the_way.rmdir()
    in_the_way.parent.rmdir()
    kept(first, "hvs.2")
    assert not place.readiness.problems()
    assert len(place.life().left) == 3


def test_one_that_cannot_be_read_stops_nobody(place: Place) -> None:
    place.path.mkdir()
    ledger = place.life()
    kept(ledger)
    assert place.failures("unreadable") == 1
    assert "Is a directory" in place.readiness.problems()["ledger"]


def test_the_next_life_finds_what_was_lent_for_the_tokens_that_are_left(place: Place) -> None:
    first = place.life()
    stays, ends = kept(first, "hvs.stays"), kept(first, "hvs.ends")
    given = GivenLease("database/creds/a/1", 90.0, True)
    holding = granted(LeaseHolding(), given, 0.0, roll=0.5)
    entries = [first.lend("database/creds/a", holding, token.entry) for token in (stays, ends)]
    released = first.lend("database/creds/b", holding, stays.entry)
    first.renew_lease(entries[0], replace(holding, ends=200.0))
    first.end_lease(released)
    first.end(ends.entry)
    (lease,) = place.life().left_leases
    assert (lease.entry, lease.token, lease.lease) == (entries[0], stays.entry, given.id)
    assert lease.expires_at - place.clock.now() == 200.0
    assert b"hvs.ends" not in place.path.read_bytes()
    assert place.life().left_leases == (lease,)
