"""The reading of images, put together."""

import ssl
from collections.abc import Callable

from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.process import Process
from nemutator_common.shipping.links import LinkUnavailableError

from nemutator_controller.app.context import BrainContext
from nemutator_controller.app.http_accounts import reread
from nemutator_controller.app.parts import Part, Task, TaskPhase
from nemutator_controller.images.endpoint import ImagesApi
from nemutator_controller.images.failures import ImageUnreadableError
from nemutator_controller.images.reading import ImageReading
from nemutator_controller.images.registries import AllowedRegistries, parse_registries
from nemutator_controller.images.registry_http import RegistryOverHttp
from nemutator_controller.images.registry_passwords import (
    RegistryPasswords,
    parse_registry_passwords,
)
from nemutator_controller.images.sql import SqlDigests
from nemutator_controller.settings.brain import BrainSettings


def images_part(context: BrainContext) -> Part:
    """Without the setting, or off clusters, no registry is asked."""
    settings, process, cluster = context.settings, context.process, context.cluster
    if cluster is None or not settings.image_registries:
        return Part(uplink=ImagesApi(None, process.meter).routes())
    registry = RegistryOverHttp(
        allowed_registries(settings),
        tls=registry_authorities(settings),
        passwords=registry_passwords(settings, process),
    )
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


def registry_passwords(
    settings: BrainSettings, process: Process
) -> Callable[[], RegistryPasswords]:
    """What the file of the setting holds now. One that cannot be understood ends a start, and later costs
    the images that are read meanwhile."""
    file = reread(settings.image_pull_secret_file, process)
    if file is None:
        return RegistryPasswords
    setting = "brain.image_pull_secret_file"

    def now() -> RegistryPasswords:
        try:
            return parse_registry_passwords(file.text())
        except (LinkUnavailableError, ValueError) as error:
            raise ImageUnreadableError("pull_secret", f"{setting}: {error}") from error

    try:
        now()
    except ImageUnreadableError as error:
        raise OperatorError(
            str(error),
            remedy="mount a Secret of the type kubernetes.io/dockerconfigjson, and name its file",
            code=ExitCode.SETTINGS,
        ) from error
    return now
