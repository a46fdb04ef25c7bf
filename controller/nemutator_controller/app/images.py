"""The reading of images, put together."""

import ssl

from nemutator_common.errors import ExitCode, OperatorError

from nemutator_controller.app.context import BrainContext
from nemutator_controller.app.parts import Part, Task, TaskPhase
from nemutator_controller.images.endpoint import ImagesApi
from nemutator_controller.images.reading import ImageReading
from nemutator_controller.images.registries import AllowedRegistries, parse_registries
from nemutator_controller.images.registry_http import RegistryOverHttp
from nemutator_controller.images.sql import SqlDigests
from nemutator_controller.settings import BrainSettings


def images_part(context: BrainContext) -> Part:
    """Without the setting, or off clusters, no registry is asked."""
    settings, process, cluster = context.settings, context.process, context.cluster
    if cluster is None or not settings.image_registries:
        return Part(uplink=ImagesApi(None, process.meter).routes())
    registry = RegistryOverHttp(allowed_registries(settings), tls=registry_authorities(settings))
    reading = ImageReading(
        registry,
        cluster.images_in_use,
        SqlDigests(context.database),
        process,
        refresh_s=settings.image_refresh_s,
    )

    async def read() -> None:
        async with registry:
            await reading.run()

    return Part(
        uplink=ImagesApi(reading, process.meter).routes(),
        restore=reading.restore,
        tasks=[Task(TaskPhase.WORK, "read images", read)],
    )


def allowed_registries(settings: BrainSettings) -> AllowedRegistries:
    try:
        return parse_registries(settings.image_registries)
    except ValueError as error:
        raise OperatorError(
            f"brain.image_registries: {error}",
            remedy="name registries as images do, without a path",
            code=ExitCode.SETTINGS,
        ) from error


def registry_authorities(settings: BrainSettings) -> ssl.SSLContext | None:
    """The system's own, and those of the setting."""
    if not settings.image_registry_ca:
        return None
    context = ssl.create_default_context()
    try:
        context.load_verify_locations(cafile=settings.image_registry_ca)
    except (OSError, ssl.SSLError) as error:
        raise OperatorError(
            f"brain.image_registry_ca: {settings.image_registry_ca} has no certificates",
            remedy="name a file with certificates of authorities, PEM",
            code=ExitCode.SETTINGS,
        ) from error
    return context
