"""The choice of pods for agents (windows.py of common)."""

from dataclasses import dataclass

import msgspec
from aiohttp import web
from nemutator_common import names
from nemutator_common.meters import Meter
from nemutator_common.windows import MOST_CANDIDATES, PODS_PATH, WindowCandidates, WindowPods

from nemutator_controller.access.gates import CALLER
from nemutator_controller.access.routes import ProcessRoute, served_to
from nemutator_controller.answers import answer, refusal
from nemutator_controller.ingest.batches import RefusedBatchError, decoded
from nemutator_controller.ingest.bodies import body_of
from nemutator_controller.windows.choice import WindowChoice
from nemutator_controller.windows.ports import NodePods

_decoder = msgspec.json.Decoder(WindowCandidates)


@dataclass(frozen=True, slots=True)
class WindowPodsApi:
    pods: NodePods
    choice: WindowChoice
    meter: Meter

    def routes(self) -> list[ProcessRoute]:
        return [served_to({"agent", "local"}, web.post(PODS_PATH, self._choose))]

    async def _choose(self, request: web.Request) -> web.Response:
        try:
            asked = decoded(_decoder, await body_of(request))
        except RefusedBatchError as refused:
            self.meter.count(names.BATCHES_REFUSED, reason=refused.reason)
            return refusal(400, str(refused), "send what windows.py describes")
        if len(asked.uids) > MOST_CANDIDATES:
            self.meter.count(names.BATCHES_REFUSED, reason="bounds")
            what = f"uids: {len(asked.uids)}, at most {MOST_CANDIDATES} are taken"
            return refusal(400, what, "send what windows.py describes")
        if not request[CALLER].may_speak_for(asked.node):
            self.meter.count(names.BATCHES_REFUSED, reason="forbidden")
            return refusal(403, "this caller may not speak for that node", "ask under its own name")
        chosen = (uid for uid in asked.uids if self._is_chosen(asked.node, uid))
        return answer(WindowPods(tuple(chosen)))

    def _is_chosen(self, node: str, uid: str) -> bool:
        pod = self.pods.find(node, uid)
        return pod is not None and self.choice.allows(pod)
