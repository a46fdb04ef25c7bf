"""Profiles as /api/v1 shows them."""

from collections.abc import Iterable

import msgspec
from nemutator_common import names

from nemutator_controller.profiles.records import ProfileRecord


def profile_document(profile: ProfileRecord, *, link: str) -> dict[str, object]:
    """All that is known of *profile*; *link* is where its flame graph is, once it is done."""
    shown: dict[str, object] = msgspec.to_builtins(profile)
    done = profile.state == "done"
    return {
        "apiVersion": names.API_VERSION,
        "kind": "Profile",
        **shown,
        "title": profile.title,
        "link": link if done else None,
    }


def list_document(profiles: Iterable[ProfileRecord], links: Iterable[str]) -> dict[str, object]:
    pairs = zip(profiles, links, strict=True)
    items = [profile_document(profile, link=link) for profile, link in pairs]
    return {"apiVersion": names.API_VERSION, "kind": "ProfileList", "items": items}
