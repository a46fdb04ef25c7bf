"""The types of columns, on both engines."""

from typing import Any

from sqlalchemy import BigInteger, Dialect, Integer, Text, TypeDecorator
from sqlalchemy.dialects import postgresql
from sqlalchemy.types import TypeEngine

Number = BigInteger().with_variant(Integer(), "sqlite")
"""64 bits. SQLite numbers the rows only of an INTEGER, which has 64 bits there."""


class Words(TypeDecorator[str]):
    """Text, compared byte by byte. PostgreSQL would compare by the language of its database, and takes no
    zero byte, which names of processes may hold: there it becomes U+FFFD."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return postgresql.TEXT(collation="C") if dialect.name == "postgresql" else Text()

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        if value is None or dialect.name != "postgresql" or "\0" not in value:
            return value
        return value.replace("\0", "\ufffd")
