from nemutator_common.shipping.pacing import PacedLink
from nemutator_common.wire import LONGEST_PACE_S, Ack

from tests.fakes.brain_link import BrainLink


async def test_what_the_brain_asks_for_is_known_and_bounded() -> None:
    brain = BrainLink()
    link = PacedLink(brain)
    assert link.report_every_s == 0
    for asked, believed in ((20.0, 20.0), (1e6, LONGEST_PACE_S), (-1.0, 0.0), (0.0, 0.0)):
        brain.failures.append(Ack("e", 0, asked))
        await link.position(writer="n", epoch="e")
        assert link.report_every_s == believed
