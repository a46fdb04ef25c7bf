"""Profiles whose contents lie in a store of objects: the database keeps what they are. A `ProfileStore`.

A content is kept before its document says that there is one, and removed before its document is: whatever
breaks off in between is done again, and nothing stays that no document leads to.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from nemutator_controller.objects.ports import ObjectStore
from nemutator_controller.profiles.ports import ProfileDocuments
from nemutator_controller.profiles.records import ProfileRecord


@dataclass(frozen=True, slots=True)
class SeparatedProfiles:
    documents: ProfileDocuments
    contents: ObjectStore

    async def save(self, profile: ProfileRecord, pprof: bytes | None = None) -> None:
        if pprof is not None:
            await self.contents.put(object_key(profile.id), pprof)
        await self.documents.save(profile)

    async def find(self, identity: str) -> ProfileRecord | None:
        return await self.documents.find(identity)

    async def unfinished(self) -> Sequence[ProfileRecord]:
        return await self.documents.unfinished()

    async def newest(self, most: int) -> Sequence[ProfileRecord]:
        return await self.documents.newest(most)

    async def pprof(self, identity: str) -> bytes | None:
        # What was made before the setting was is in the database.
        found = await self.documents.pprof(identity)
        if found is not None or await self.documents.find(identity) is None:
            return found
        return await self.contents.get(object_key(identity))

    async def prune(self, *, most: int, most_bytes: int) -> tuple[int, int]:
        found = await self.documents.surplus(most=most, most_bytes=most_bytes)
        for identity in found.identities:
            await self.contents.remove(object_key(identity))
        if found.identities:
            await self.documents.remove(found.identities)
        return len(found.by_count), len(found.by_bytes)


def object_key(identity: str) -> str:
    return f"profiles/{identity}.pb.gz"
