"""Tokens, put together: where placeholders get their values."""

from pathlib import Path

from nemutator_controller.app.context import BrainContext
from nemutator_controller.app.parts import Part, Task, TaskPhase
from nemutator_controller.tokens.endpoint import TokensApi
from nemutator_controller.tokens.files import FileTokens
from nemutator_controller.tokens.ports import TokenSource
from nemutator_controller.tokens.reading import TokenReading
from nemutator_controller.tokens.redis import RedisTokens, address_of


def token_reading(context: BrainContext) -> TokenReading | None:
    """None: there is no token store."""
    source = _source(context)
    return None if source is None else TokenReading(source, context.process)


def _source(context: BrainContext) -> TokenSource | None:
    settings, process = context.settings, context.process
    if settings.tokens_redis:
        address = address_of(
            settings.tokens_redis,
            user=settings.tokens_redis_user,
            password_file=settings.tokens_redis_password_file,
            ca_file=settings.tokens_redis_ca,
        )
        return RedisTokens(address, process.clock)
    if settings.tokens_file:
        return FileTokens(Path(settings.tokens_file), process.clock, optional=False)
    if context.cluster is None:
        return FileTokens(process.directory.tokens, process.clock, optional=True)
    return None


def tokens_part(reading: TokenReading | None) -> Part:
    api = TokensApi(reading)
    if reading is None:
        return Part(routes=api.routes(), uplink=api.uplink_routes())
    return Part(
        routes=api.routes(),
        uplink=api.uplink_routes(),
        restore=reading.restore,
        tasks=[Task(TaskPhase.WORK, "read tokens", reading.run)],
    )
