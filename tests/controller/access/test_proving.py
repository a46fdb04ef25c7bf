import pytest
from nemutator_common import names
from nemutator_controller.access.bearers import Accounts
from nemutator_controller.access.callers import Caller
from nemutator_controller.access.key_reading import FRESH_S, SigningKeys
from nemutator_controller.access.proving import (
    PAUSE_S,
    REVIEW_AGAIN_S,
    REVIEWS_AT_ONCE,
    REVIEWS_PER_S,
    ProvenCallers,
)
from nemutator_controller.access.signed_tokens import SKEW_S, BoundPod
from nemutator_controller.access.token_reviews import (
    CALLER_FRESH_S,
    ReviewedCallers,
    UnknownNowError,
)
from nemutator_controller.kube.failures import ForbiddenError, UnavailableError

from tests.fakes.clocks import ManualClock
from tests.fakes.issuers import AGENT, Issuer, Key, claims, ec_key, rsa_key, token
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.reviews import MemoryReviews

ADMISSION = "system:serviceaccount:nemutator:nemutator-admission"
SOURCE = "10.0.0.1"


class Pods:
    """A `RunningAgents`."""

    def __init__(self) -> None:
        self.running: set[BoundPod] = set()

    def add(self, node: str) -> None:
        self.running.add(BoundPod(node, "nemutator", f"agent-{node}", f"pod-uid-{node}"))

    def runs(self, pod: BoundPod) -> bool:
        return pod in self.running


class ProvenDoor:
    def __init__(self, *keys: Key) -> None:
        self.reviews, self.clock, self.meter = MemoryReviews(), ManualClock(), MemoryMeter()
        self.issuer, self.pods = Issuer(*(keys or (rsa_key(),))), Pods()
        process = fake_process(clock=self.clock, meter=self.meter)
        accounts = Accounts(AGENT, ADMISSION)
        self.callers = ProvenCallers(
            reviewed=ReviewedCallers(self.reviews, accounts, process),
            keys=SigningKeys(source=self.issuer, process=process),
            agents=self.pods,
            accounts=accounts,
            process=process,
        )

    def agent(self, node: str = "n1", **other: object) -> str:
        """A token of a running agent, which the API server takes, too."""
        self.pods.add(node)
        made = token(self.issuer.keys[0], claims(node=node, now=self.clock.now(), **other))
        self.reviews.knows(made, AGENT, node=node)
        return made

    async def ask(self, sent: str) -> Caller | None:
        return await self.callers.recognise(f"Bearer {sent}", source=SOURCE)

    def how(self, how: str) -> float:
        return self.meter.value(names.TOKENS_JUDGED, how=how)

    def counted(self, result: str) -> float:
        return self.meter.value(names.CALLERS, result=result)


@pytest.mark.parametrize("key", [rsa_key(), ec_key()])
async def test_an_agent_is_reviewed_once_in_ten_minutes_and_not_with_each_report(key: Key) -> None:
    door = ProvenDoor(key)
    sent = door.agent()
    for _ in range(10):
        assert await door.ask(sent) == Caller("agent", "n1")
        await door.clock.advance(CALLER_FRESH_S - 1)
    assert len(door.reviews.asked) == 1
    assert (door.how("signed"), door.how("remembered")) == (1, 9)
    await door.clock.advance(REVIEW_AGAIN_S)
    await door.ask(sent)
    assert len(door.reviews.asked) == 2
    assert door.counted("granted") == 11


async def test_a_pod_that_is_gone_or_elsewhere_proves_nothing_at_once() -> None:
    door = ProvenDoor()
    sent = door.agent()
    assert await door.ask(sent) == Caller("agent", "n1")
    door.pods.running.clear()
    del door.reviews.tokens[sent]
    await door.clock.advance(CALLER_FRESH_S)
    assert await door.ask(sent) is None
    assert door.how("reviewed") == 1


async def test_a_pod_that_is_not_seen_yet_is_asked_about() -> None:
    door = ProvenDoor()
    sent = door.agent()
    door.pods.running.clear()
    assert await door.ask(sent) == Caller("agent", "n1")
    assert (door.how("reviewed"), len(door.reviews.asked)) == (1, 1)


async def test_an_account_that_is_deleted_is_found_with_the_next_review_and_stays_refused() -> None:
    door = ProvenDoor()
    sent = door.agent()
    await door.ask(sent)
    del door.reviews.tokens[sent]
    await door.clock.advance(REVIEW_AGAIN_S)
    assert await door.ask(sent) is None
    # Whatever others have asked for meanwhile: no signature lets it in again.
    for number in range(int(REVIEWS_AT_ONCE) + 10):
        await door.ask(door.agent(f"n{number}"))
        assert await door.ask(sent) is None
    door.reviews.broken = UnavailableError("create tokenreviews", "gone")
    await door.clock.advance(CALLER_FRESH_S)
    with pytest.raises(UnknownNowError):
        await door.ask(sent)
    door.reviews.broken = None
    door.reviews.knows(sent, AGENT, node="n1")
    assert await door.ask(sent) == Caller("agent", "n1")


async def test_ten_thousand_agents_at_once_wait_for_no_review_and_have_one_in_time() -> None:
    door = ProvenDoor(ec_key())
    sent = [door.agent(f"n{number}") for number in range(1_000)]
    for number, one in enumerate(sent):
        assert await door.ask(one) == Caller("agent", f"n{number}")
    assert len(door.reviews.asked) == REVIEWS_AT_ONCE
    for _ in range(int(1_000 / REVIEWS_PER_S)):
        await door.clock.advance(1)
        for one in sent:
            await door.ask(one)
    assert len(door.reviews.asked) == 1_000


async def test_while_the_api_server_is_away_signature_and_pod_do() -> None:
    door = ProvenDoor()
    known, new = door.agent(), door.agent("n2")
    await door.ask(known)
    door.reviews.broken = UnavailableError("create tokenreviews", "gone")
    asked = len(door.reviews.asked)
    for _ in range(3):
        assert await door.ask(known) == Caller("agent", "n1")
        assert await door.ask(new) == Caller("agent", "n2")
    assert len(door.reviews.asked) == asked + 1
    door.reviews.broken = None
    await door.clock.advance(PAUSE_S)
    await door.ask(new)
    assert len(door.reviews.asked) == asked + 2


async def test_a_token_ends_with_its_time_and_with_the_key_that_signed_it() -> None:
    door = ProvenDoor(rsa_key(), ec_key())
    sent = door.agent()
    await door.ask(sent)
    del door.reviews.tokens[sent]
    await door.clock.advance(3600 + SKEW_S)
    assert await door.ask(sent) is None
    renewed = door.agent()
    assert await door.ask(renewed) == Caller("agent", "n1")
    door.issuer.keys.remove(rsa_key())
    await door.clock.advance(FRESH_S)
    assert await door.ask(renewed) is None
    assert door.how("forged") == 1


async def test_admission_is_reviewed_as_it_was_before_there_were_keys() -> None:
    door = ProvenDoor()
    sent = token(rsa_key(), claims(sub=ADMISSION))
    door.reviews.knows(sent, ADMISSION, pod="admission-1")
    for _ in range(3):
        assert await door.ask(sent) == Caller("admission", "admission-1")
        await door.clock.advance(CALLER_FRESH_S)
    assert len(door.reviews.asked) == 3
    door.reviews.broken = UnavailableError("create tokenreviews", "gone")
    other = token(rsa_key(), claims(sub=ADMISSION, jti="other"))
    with pytest.raises(UnknownNowError):
        await door.ask(other)


async def test_without_published_keys_all_is_as_it_was_before() -> None:
    door = ProvenDoor()
    door.issuer.broken = ForbiddenError("get /openid/v1/jwks", "403")
    sent = door.agent()
    door.pods.running.clear()
    stranger = token(ec_key())
    for _ in range(3):
        assert await door.ask(sent) == Caller("agent", "n1")
        assert await door.ask(stranger) is None
    assert len(door.reviews.asked) == 2
    assert door.how("reviewed") == 6
    assert door.meter.value(names.SIGNING_KEYS_READ, result="failed") == 1


async def test_a_key_of_a_kind_that_we_do_not_use_leaves_its_tokens_to_a_review() -> None:
    door = ProvenDoor()
    sent = door.agent()
    published = door.issuer.published

    class Unusual(Issuer):
        def published(self):  # type: ignore[no-untyped-def]
            keys = published()
            return type(keys)(discovery=keys.discovery, keys=keys.keys.replace(b"RS256", b"PS512"))

    door.callers.keys.source = Unusual(rsa_key())
    assert await door.ask(sent) == Caller("agent", "n1")
    assert door.how("reviewed") == 1


async def test_what_the_api_server_says_of_a_token_goes_before_what_it_says_itself() -> None:
    door = ProvenDoor()
    sent = door.agent()
    door.reviews.knows(sent, AGENT, node="n7")
    assert await door.ask(sent) == Caller("agent", "n7")
