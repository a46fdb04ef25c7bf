"""What one brain of several does at a time, claimed in PostgreSQL.

The holder says every few seconds that it is there, by PostgreSQL's clock: those of brains may differ. Each
new holder gets the next generation. Who writes by its claim asks `held` in the same transaction: a brain
that was stopped for long, and has lost its claim meanwhile, writes nothing.
"""

from sqlalchemy import ColumnElement, Connection, Float, cast, extract, func, insert, select, update

from nemutator_controller.database.claim import LOST_AFTER_S, Claim, ClaimLostError
from nemutator_controller.database.schema import claims


def take(connection: Connection, name: str, holder: str) -> Claim | None:
    """The claim, for *holder*; None while another one has it.

    Its own former claim it takes at once: a process that started again under the same name is the only one.
    """
    free = (claims.c.holder == holder) | (claims.c.heard_at < _now() - LOST_AFTER_S)
    found = connection.execute(
        select(claims.c.generation, free.label("free"))
        .where(claims.c.name == name)
        .with_for_update(skip_locked=True)
    ).one_or_none()
    if found is None:
        # Never claimed, or another brain has its hands on it: then the key refuses this row.
        if connection.scalar(select(claims.c.name).where(claims.c.name == name)) is not None:
            return None
        connection.execute(
            insert(claims).values(name=name, holder=holder, generation=1, heard_at=_now())
        )
        return Claim(name, holder, 1)
    if not found.free:
        return None
    claim = Claim(name, holder, found.generation + 1)
    connection.execute(
        update(claims)
        .where(claims.c.name == name)
        .values(holder=holder, generation=claim.generation, heard_at=_now())
    )
    return claim


def renew(connection: Connection, claim: Claim, *, heard_at: float = 0.0) -> float | None:
    """Say that the holder is there, and return when that was; None when it holds no longer.

    None also when the database no longer knows that it was heard of *heard_at*: then it was set back in time.
    """
    renewed = (
        update(claims)
        .where(*_is(claim), claims.c.heard_at >= heard_at)
        .values(heard_at=_now())
        .returning(claims.c.heard_at)
    )
    heard_at_now: float | None = connection.scalar(renewed)
    return heard_at_now


def release(connection: Connection, claim: Claim) -> None:
    """Let another one take it at once."""
    connection.execute(update(claims).where(*_is(claim)).values(heard_at=0.0))


def held(connection: Connection, claim: Claim) -> bool:
    """Whether *claim* still holds, and will until this transaction has ended."""
    query = select(claims.c.generation).where(*_is(claim)).with_for_update(key_share=True)
    return connection.scalar(query) is not None


def write_by(connection: Connection, claim: Claim | None) -> None:
    """Have this transaction write nothing, by `ClaimLostError`, unless *claim* holds; and say that the holder is there.

    Without a claim there is one brain alone.
    """
    if claim is not None and renew(connection, claim) is None:
        raise ClaimLostError


def _is(claim: Claim) -> tuple[ColumnElement[bool], ...]:
    return (claims.c.name == claim.name, claims.c.generation == claim.generation)


def _now() -> ColumnElement[float]:
    return cast(extract("epoch", func.clock_timestamp()), Float)
