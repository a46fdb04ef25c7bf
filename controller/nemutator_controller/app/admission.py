"""`nemutator-controller admission`, put together."""

import asyncio
import contextlib
import socket
from functools import partial
from pathlib import Path

from nemutator_common.admission_snapshots import (
    ADVICE_PATH,
    IMAGES_PATH,
    SEASONS_PATH,
    TALKERS_PATH,
    TOKENS_PATH,
    TOMBSTONES_PATH,
    UNWANTED_PATH,
)
from nemutator_common.real_process import real_process
from nemutator_common.serving.operations_server import add_metrics_listener
from nemutator_common.shipping.batches import encode_records
from nemutator_common.shipping.brain_http import brain_over_http
from nemutator_common.shipping.links_over_http import (
    DocumentsOverHttp,
    ImageQuestionsOverHttp,
    StreamOverHttp,
)
from nemutator_common.shipping.shipper import Shipper

from nemutator_controller.admission.bounds_watching import watched_bounds
from nemutator_controller.admission.image_asking import AskedImages
from nemutator_controller.admission.siblings import Siblings
from nemutator_controller.admission.snapshot_poller import (
    ADVICE_S,
    IMAGES_S,
    SEASONS_S,
    TALKERS_S,
    TOKENS_S,
    TOMBSTONES_S,
    UNWANTED_S,
    SnapshotPoller,
)
from nemutator_controller.admission.spool import Spool
from nemutator_controller.admission.watching import WatchedCluster
from nemutator_controller.app.webhook import STOPPED_WITHIN_S, local_listener, webhook_listener
from nemutator_controller.kube.incluster import InCluster
from nemutator_controller.kube.informing import Informer
from nemutator_controller.kube.resources import NAMESPACES, RUNTIME_CLASSES
from nemutator_controller.kube.transport import HttpTransport
from nemutator_controller.loop_watching import watch_loop
from nemutator_controller.policies.objects import MUTATION_POLICIES
from nemutator_controller.settings.admission import AdmissionSettings
from nemutator_controller.updating.at_creation import policy_at_creation
from nemutator_controller.updating.objects import SIZING_POLICIES

NOBODY = contextlib.nullcontext()


async def run(settings: AdmissionSettings, stop: asyncio.Event) -> None:
    """Be the webhook until *stop*."""
    process = real_process(settings)
    spool = Spool(
        process.directory.root / "spool", most_bytes=settings.spool_bytes, process=process
    )
    configuration = InCluster(process.clock, mount=settings.service_account)
    siblings = Siblings(Path(settings.siblings), process) if settings.siblings else None
    if siblings is not None:
        siblings.attend()
    with contextlib.closing(spool), contextlib.closing(siblings) if siblings else NOBODY:
        brain = brain_over_http(settings, process)
        async with HttpTransport(configuration, process.meter) as transport, brain:
            bounds = watched_bounds(transport, process)
            cluster = WatchedCluster(
                Informer(MUTATION_POLICIES, transport=transport, process=process),
                Informer(NAMESPACES, transport=transport, process=process),
                Informer(RUNTIME_CLASSES, transport=transport, process=process),
                process,
                bounds.of,
                bounds.moment,
                Informer(SIZING_POLICIES, transport=transport, process=process, may_be_absent=True),
                policy_at_creation,
            )
            get = DocumentsOverHttp(brain).get
            advice = SnapshotPoller(
                "advice", ADVICE_PATH, get, cluster.take_advice, ADVICE_S, process
            )
            tombstones = SnapshotPoller(
                "tombstones",
                TOMBSTONES_PATH + (f"?process={settings.data_dir.name}" if siblings else ""),
                get,
                cluster.take_tombstones,
                TOMBSTONES_S,
                process,
            )
            tokens = SnapshotPoller(
                "tokens", TOKENS_PATH, get, cluster.take_tokens, TOKENS_S, process
            )
            seasons = SnapshotPoller(
                "seasons", SEASONS_PATH, get, cluster.take_seasons, SEASONS_S, process
            )
            talkers = SnapshotPoller(
                "talkers", TALKERS_PATH, get, cluster.take_talkers, TALKERS_S, process
            )
            unwanted = SnapshotPoller(
                "unwanted", UNWANTED_PATH, get, cluster.take_unwanted, UNWANTED_S, process
            )
            asked = AskedImages(cluster.wanted_images, ImageQuestionsOverHttp(brain).ask, get)
            images = SnapshotPoller(
                "images", IMAGES_PATH, asked.get, cluster.take_images, IMAGES_S, process
            )
            shipper = Shipper(
                process=process,
                link=StreamOverHttp(brain, "decisions"),
                queue=spool,
                stream="decisions",
                writer=settings.writer or socket.gethostname(),
                epoch=spool.epoch,
                encode=encode_records,
                call_s=settings.call_s,
            )
            spool.added = shipper.wake
            local = local_listener(process)
            webhook = webhook_listener(settings, cluster, spool, process, siblings)
            add_metrics_listener(process, settings.metrics)
            # They stop in the opposite order: listeners first.
            tasks = {
                "ship decisions": shipper.run,
                "poll advice": advice.run,
                "poll tombstones": tombstones.run,
                "poll tokens": tokens.run,
                "poll images": images.run,
                "poll seasons": seasons.run,
                "poll talkers": talkers.run,
                "poll unwanted labels": unwanted.run,
                **cluster.tasks(),
                **bounds.tasks(),
                "http local": local.run,
            }
            process.supervisor.add("watch loop", partial(watch_loop, process))
            for name, body in tasks.items():
                process.supervisor.add(name, body)
            process.supervisor.add("http webhook", webhook.run, stop_s=STOPPED_WITHIN_S)
            with contextlib.closing(local), contextlib.closing(webhook):
                await local.bind()
                await webhook.bind()
                await process.supervisor.run(stop)
