"""From a node's records to `Grant`s that may be kept and shown."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import msgspec
from nemutator_common.wire import LONGEST_GRANT_TEXT, Grant

from nemutator_controller.ingest.batches import FUTURE_S, LARGEST_NUMBER, is_clean


def grants_of(
    writer: str, records: Sequence[Mapping[str, object]], *, now: float
) -> Iterator[Grant]:
    """The grants in *records*; a ValueError says what is wrong with one.

    A node speaks for itself only, so that its records cannot pass for another's.
    """
    for record in records:
        try:
            grant = msgspec.convert(record, Grant)
        except msgspec.ValidationError as error:
            raise ValueError(f"not a grant: {str(error)[:200]}") from error
        if grant.node != writer:
            raise ValueError("node: expected the writer's own name")
        for text in _texts(grant):
            if len(text) > LONGEST_GRANT_TEXT or not is_clean(text):
                raise ValueError(
                    f"a text is longer than {LONGEST_GRANT_TEXT} or has control characters"
                )
        for number in (grant.at, grant.expires_at, grant.version):
            # Written so that NaN fails too.
            if number is not None and not 0 <= number <= LARGEST_NUMBER:
                raise ValueError("a number is out of range")
        yield _in_our_time(grant, now=now)


def _in_our_time(grant: Grant, *, now: float) -> Grant:
    """*grant* as it is, or with our time where its node's clock is far ahead.

    To refuse it would lose it, and all other records of a node whose clock is wrong.
    """
    ahead = grant.at - now
    if ahead <= FUTURE_S:
        return grant
    ends = None if grant.expires_at is None else max(grant.expires_at - ahead, 0.0)
    return replace(grant, at=now, expires_at=ends)


def _texts(grant: Grant) -> Iterator[str]:
    yield grant.namespace
    yield grant.pod
    yield grant.pod_uid
    yield grant.service_account
    yield grant.caller
    yield grant.secret
    yield grant.path_digest
    yield grant.reason
    yield grant.role
