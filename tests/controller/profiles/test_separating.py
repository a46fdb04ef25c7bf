"""Profiles with their contents elsewhere: whatever breaks off in between, nothing is left over or said to be there."""

from dataclasses import replace

import pytest
from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.profiles.records import SurplusProfiles
from nemutator_controller.profiles.separating import SeparatedProfiles

from tests.fakes.objects import MemoryObjects
from tests.fakes.profiles import NOW, MemoryProfiles, profile


class Documents(MemoryProfiles):
    async def surplus(self, *, most: int, most_bytes: int) -> SurplusProfiles:
        self._work()
        finished = [one.id for one in self.kept.values() if not one.is_open]
        return SurplusProfiles(by_count=tuple(finished[: max(0, len(finished) - most)]))

    async def remove(self, identities: object) -> None:
        self._work()
        for identity in list(self.kept):
            if identity in identities:  # type: ignore[operator]
                del self.kept[identity]


def done(number: int) -> object:
    return replace(profile(number, at=NOW + number), state="done", bytes=3)


async def test_a_content_that_cannot_be_kept_is_no_profile_that_is_done() -> None:
    documents, contents = Documents(), MemoryObjects()
    store = SeparatedProfiles(documents, contents)
    await store.save(profile(1))
    contents.fails = "gone"
    with pytest.raises(StoreUnavailableError, match="cannot be reached"):
        await store.save(done(1), b"abc")  # type: ignore[arg-type]
    assert documents.kept[profile(1).id].is_open
    contents.fails = None
    await store.save(done(1), b"abc")  # type: ignore[arg-type]
    assert documents.contents == {}
    assert await store.pprof(profile(1).id) == b"abc"


async def test_removal_that_broke_off_is_done_again() -> None:
    documents, contents = Documents(), MemoryObjects()
    store = SeparatedProfiles(documents, contents)
    for number in range(3):
        await store.save(done(number), b"abc")  # type: ignore[arg-type]
    contents.fails = "busy"
    with pytest.raises(StoreUnavailableError):
        await store.prune(most=1, most_bytes=99)
    assert len(documents.kept) == len(contents.kept) == 3
    contents.fails = None
    assert await store.prune(most=1, most_bytes=99) == (2, 0)
    assert list(contents.kept) == [f"profiles/{profile(2).id}.pb.gz"]
    assert list(documents.kept) == [profile(2).id]


async def test_what_was_made_before_is_found_where_it_is() -> None:
    documents, contents = Documents(), MemoryObjects()
    await documents.save(done(1), b"older")  # type: ignore[arg-type]
    store = SeparatedProfiles(documents, contents)
    contents.fails = "gone"
    assert await store.pprof(profile(1).id) == b"older"
    # Of an id that nobody knows the bucket is not asked.
    assert await store.pprof("0" * 16) is None
