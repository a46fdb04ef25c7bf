"""A listener as admission's, in a process as admission's, which decides nothing and keeps no record: what is left of an answer
is TLS, HTTP and Python. No rebuilding of the decision gets below it.

It answers a review at each path with the patch that has the path's name, and puts nothing in but the review's uid.
"""

import asyncio
import contextlib
import os
import re
import sys
from base64 import b64encode
from pathlib import Path

from nemutator_common import launching
from nemutator_common.addresses import parse_address
from nemutator_common.launching import Role, from_module
from nemutator_common.old_objects import OldObjects
from nemutator_common.real_process import real_process
from nemutator_common.serving.plain_path import PlainAnswer
from nemutator_common.serving.plain_posts import PlainPost
from nemutator_common.serving.server import HttpServer
from nemutator_controller.__main__ import PIECES_OF_ADMISSION
from nemutator_controller.admission.endpoint import CONTENT_TYPE
from nemutator_controller.app.webhook import LIMITS, STOPPED_WITHIN_S, local_listener, webhook_tls
from nemutator_controller.settings.admission import AdmissionSettings

MODULE = __name__ if __name__ != "__main__" else "tests.bench.admission_floor"
PATCHES = "FLOOR_PATCHES"
"""The variable with the folder of patches, `PATH.patch` each."""

_UID = re.compile(rb'"uid": ?"([0-9a-f-]{36})"')
_BEGIN = b'{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"%b%b'


async def run(settings: AdmissionSettings, stop: asyncio.Event) -> None:
    process = real_process(settings)
    answers = _Answers(Path(os.environ[PATCHES]))
    local = local_listener(process)
    webhook = HttpServer(
        process=process,
        name="webhook",
        address=parse_address(settings.address),
        routes=[],
        posts=answers.at_once,
        operations=frozenset({"healthz", "readyz"}),
        limits=LIMITS,
        tls=webhook_tls(settings, process),
        few_callers=True,
    )
    process.supervisor.add("http local", local.run)
    process.supervisor.add("http webhook", webhook.run, stop_s=STOPPED_WITHIN_S)
    with contextlib.closing(local), contextlib.closing(webhook):
        await local.bind()
        await webhook.bind()
        await process.supervisor.run(stop)


class _Answers:
    def __init__(self, patches: Path) -> None:
        patched = b'","allowed":true,"patchType":"JSONPatch","patch":"%b"}}'
        self._behind = {
            f"/{each.stem}": patched % b64encode(each.read_bytes())
            for each in patches.glob("*.patch")
        }

    def at_once(self, post: PlainPost) -> PlainAnswer | None:
        behind, uid = self._behind.get(post.path), _UID.search(post.body)
        if behind is None or uid is None:
            return None
        return PlainAnswer(_BEGIN % (uid[1], behind), CONTENT_TYPE)


def main() -> int:
    old_objects = OldObjects(few=0, fewest=PIECES_OF_ADMISSION)
    role = Role(AdmissionSettings, from_module(MODULE, old_objects=old_objects), "the floor")
    return launching.main("floor", [role])


if __name__ == "__main__":
    sys.exit(main())
