"""Profiles that pods ask for by annotation: each is made once, and its result written to the pod."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field

from nemutator_common import names
from nemutator_common.process import Process
from nemutator_common.wire import ProfileTarget

from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.profiles.annotations import (
    GRAMMAR,
    InvalidAnnotationError,
    is_settled,
    parse,
    profile_id,
    result,
)
from nemutator_controller.profiles.api_requests import DEFAULT_HZ, DEFAULT_S
from nemutator_controller.profiles.ports import AnnotatedPods, Results
from nemutator_controller.profiles.profile_queue import ProfileQueue, TooManyProfilesError
from nemutator_controller.profiles.records import (
    AnnotatedPod,
    EndReason,
    PodRef,
    ProfileRecord,
    ResultUnwrittenError,
)

log = logging.getLogger(__name__)

AGAIN_S = 10.0
"""Seconds until what could not be stored or written is tried again."""

TRIES = 30
MOST_WAITING = 1_000
"""Results that wait, and requests; a pod for which there is no room is seen again when it changes."""


@dataclass(slots=True)
class AnnotatedProfiles:
    """The id of a profile is made of the pod's uid and the request, and so says whether a request is
    new: a brain that starts again finds it stored, or its result on the pod, and does not repeat it."""

    queue: ProfileQueue
    pods: AnnotatedPods
    results: Results
    link: Callable[[str], str]
    process: Process
    _unwritten: dict[PodRef, tuple[str, int]] = field(default_factory=dict, init=False)
    _again: dict[PodRef, tuple[AnnotatedPod, int]] = field(default_factory=dict, init=False)
    _work: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    def __post_init__(self) -> None:
        self.queue.subscribe(self._note_change)

    async def ask(self) -> None:
        """Ask for what pods want. One brain of several does it."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._follow(), name="follow annotated pods")
            group.create_task(self._repeat(), name="ask again for annotated pods")

    async def _follow(self) -> None:
        async for pod in self.pods.changes():
            await self._consider(pod, tries=0)

    async def _repeat(self) -> None:
        while True:
            await self.process.clock.sleep(AGAIN_S)
            waiting, self._again = self._again, {}
            for pod, tries in waiting.values():
                await self._consider(pod, tries=tries)

    async def _consider(self, pod: AnnotatedPod, *, tries: int) -> None:
        """Begin the profile that *pod* asks for unless that was done, and see that its result is written."""
        if not pod.wanted.strip() or not pod.node:
            return
        identity = profile_id(pod.ref.uid, pod.wanted)
        if is_settled(pod.result, identity):
            return
        try:
            known = await self.queue.find(identity)
            if known is None:
                await self._begin(identity, pod)
            elif result(known, self.link(identity)) != pod.result:
                self._note(pod.ref, known)
        except (StoreUnavailableError, TooManyProfilesError) as failure:
            pod_name = f"{pod.ref.namespace}/{pod.ref.name}"
            reason = type(failure).__name__
            log.warning("profile_not_begun", {names.OBJECT: pod_name, names.REASON: reason})
            if tries < TRIES and len(self._again) < MOST_WAITING:
                self._again[pod.ref] = (pod, tries + 1)

    async def _begin(self, identity: str, pod: AnnotatedPod) -> None:
        try:
            wanted, wrong = parse(pod.wanted), None
        except InvalidAnnotationError as error:
            wanted, wrong = None, error
        profile = ProfileRecord(
            id=identity,
            node=pod.node,
            target=ProfileTarget("pod", pod.ref.uid),
            pod=pod.ref,
            owner=pod.owner,
            measure=wanted.measure if wanted else "cpu",
            seconds=wanted.seconds if wanted else DEFAULT_S,
            hz=wanted.hz if wanted else DEFAULT_HZ,
            asked_by="annotation",
            asked_at=self.process.clock.now(),
        )
        if wrong is None:
            await self.queue.ask(profile)
        else:
            await self.queue.refuse(profile, EndReason(str(wrong), GRAMMAR))
            self.results.notify(pod.ref, f"{names.PROFILE}: {wrong}; {GRAMMAR}")

    def _note_change(self, profile: ProfileRecord) -> None:
        if profile.asked_by == "annotation" and profile.pod is not None:
            self._note(profile.pod, profile)

    def _note(self, pod: PodRef, profile: ProfileRecord) -> None:
        # `asked` is not written: `running` follows, or the reason why it does not.
        if profile.state == "asked":
            return
        if pod in self._unwritten or len(self._unwritten) < MOST_WAITING:
            self._unwritten[pod] = (result(profile, self.link(profile.id)), 0)
            self._work.set()

    async def write(self) -> None:
        """Write results to pods: each brain those that it has heard of."""
        while True:
            await self._work.wait()
            self._work.clear()
            failed = False
            for pod, (text, tries) in list(self._unwritten.items()):
                try:
                    await self.results.write(pod, text)
                    written = True
                except ResultUnwrittenError as error:
                    pod_name = f"{pod.namespace}/{pod.name}"
                    log.warning("result_unwritten", {names.OBJECT: pod_name, names.ERROR: error})
                    written = tries >= TRIES
                # While it was written, a newer one may have come.
                if self._unwritten.get(pod) != (text, tries):
                    self._work.set()
                elif written:
                    del self._unwritten[pod]
                else:
                    self._unwritten[pod] = (text, tries + 1)
                    failed = True
            if failed:
                await self.process.clock.sleep(AGAIN_S)
                self._work.set()
