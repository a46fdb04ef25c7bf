"""Answers clients of Vault on the socket of one pod: from memory where it can, else as the pod."""

import json
from collections.abc import Collection
from dataclasses import KW_ONLY, dataclass, field

from nemutator_common.process import Process
from nemutator_common.secret import Secret

from nemutator_agent.credentials.audit import Audit, Operation, Result, subject_of
from nemutator_agent.credentials.http_refusals import HttpRefusal, of_vault
from nemutator_agent.credentials.leases.leased_documents import LeasedDocument
from nemutator_agent.credentials.refused_callers import RefusedCallers
from nemutator_agent.credentials.vault.broker import Broker, Reading
from nemutator_agent.credentials.vault.documents import EngineMount
from nemutator_agent.credentials.vault.exchanges import VaultAnswer, VaultExchange
from nemutator_agent.credentials.vault.failures import (
    SecretMissingError,
    TokenShownError,
    VaultError,
    VaultUnavailableError,
)
from nemutator_agent.credentials.vault.sessions import VaultSession
from nemutator_agent.credentials.vault_api.allow_list import MOUNTS, Purpose, out_of_reach
from nemutator_agent.credentials.vault_api.api_answer import (
    ApiAnswer,
    Turn,
    kv_answer,
    leased_answer,
    mount_answer,
    renewed_answer,
    token_answer,
)
from nemutator_agent.credentials.vault_api.api_request import ApiRequest, SentRequest, parse
from nemutator_agent.credentials.vault_api.kv_paths import (
    document_path,
    is_changed_by,
    without_data,
)
from nemutator_agent.credentials.vault_api.operations import by_method, operation_of

MOST_LEASES = 256
LOOKUP = "auth/token/lookup-self"

_LEASE_FIELDS = ("lease_id", "increment", "sync")


@dataclass(eq=False, slots=True)
class PodVaultApi:
    session: VaultSession
    broker: Broker
    process: Process
    _: KW_ONLY
    audit: Audit
    refused: RefusedCallers
    auth_mount: str
    namespace: str
    """In which pods log in."""
    _leases: dict[str, None] = field(default_factory=dict, init=False)
    """Those that the pod was given here, the last of them."""

    async def answer(self, sent: SentRequest, turn: Turn) -> ApiAnswer:
        """Raises an `HttpRefusal`; a refusal of Vault's own is an answer."""
        try:
            request = parse(sent, namespace=self.namespace)
        except HttpRefusal as refusal:
            operation = by_method(sent.method)
            self._record(operation, sent.target, "denied", reason=refusal.step)
            raise self.refused.counted(refusal) from None
        try:
            answer = await self._answer(request, turn)
        except VaultError as error:
            outage = error.reason if isinstance(error, VaultUnavailableError) else None
            self._recorded(request, "failed" if outage else "denied", reason=outage or error.kind)
            why = of_vault(
                error,
                account=self.session.account,
                path=without_data(request.path),
                auth_mount=self.auth_mount,
            )
            raise self.refused.counted(why) from error
        except HttpRefusal as refusal:
            self._recorded(request, "denied", reason=refusal.step)
            raise self.refused.counted(refusal) from None
        return answer

    async def _answer(self, request: ApiRequest, turn: Turn) -> ApiAnswer:
        match request.purpose:
            case Purpose.DATA:
                return await self._data(request, turn)
            case Purpose.MOUNT:
                path = request.path.removeprefix(MOUNTS)
                mount = await self._mount(path)
                self._recorded(request, "granted")
                return mount_answer(mount, request_id=self._number())
            case Purpose.TOKEN:
                found = await self._ask(VaultExchange(method="GET", path=LOOKUP), turn)
                if found.status >= 400:
                    return self._passed(request, found)
                self._recorded(request, "granted")
                shaped = token_answer if request.path == LOOKUP else renewed_answer
                return shaped(found.document, request_id=self._number())
            case Purpose.LEASE:
                return await self._of_lease(request, turn)
            case Purpose.WRAPPING:
                return await self._wrapped(request, turn)
            case Purpose.CAPABILITIES:
                return await self._pass(request, turn, body=_part(request, ("path", "paths")))
            case Purpose.HEALTH:
                return await self._pass(request, turn)

    # --- secrets --------------------------------------------------------------------------------
    async def _data(self, request: ApiRequest, turn: Turn) -> ApiAnswer:
        mount = await self._mount(request.path)
        wanted = document_path(mount, request.path)
        is_plain = request.method == "GET" and not request.query and not request.wrap_ttl
        if is_plain and wanted is not None:
            try:
                reading = await self.broker.read(self.session, wanted)
            except SecretMissingError:
                # Of a version that was deleted Vault tells when, which its clients show.
                return await self._pass(request, turn)
            self._recorded(request, "granted", reason="stale" if reading.stale else "", of=reading)
            return kv_answer(reading.document, mount, request_id=self._number())
        if is_plain and mount.version is None:
            return await self._maybe_leased(request, turn)
        answer = await self._pass(request, turn)
        if request.method != "GET":
            for known in tuple(self.session.cache):
                if is_changed_by(mount, known, request.path):
                    self.session.cache.pop(known, None)
        return answer

    async def _maybe_leased(self, request: ApiRequest, turn: Turn) -> ApiAnswer:
        """What is lent is the same for all containers of the pod, and the node renews it."""
        found = self.session.lent(request.path, self.process.clock.monotonic())
        if found is not None:
            return self._lent(request, found)
        await turn()
        try:
            asked = await self.broker.read_engine(self.session, request.path)
        except TokenShownError as error:
            raise _token_shown(error) from None
        if asked.answer is not None:
            return self._passed(request, asked.answer)
        assert asked.leased is not None
        return self._lent(request, asked.leased)

    def _lent(self, request: ApiRequest, leased: LeasedDocument) -> ApiAnswer:
        self._recorded(request, "granted", of=Reading(leased.document, cached=True))
        lasts_s = leased.holding.ends - self.process.clock.monotonic()
        return leased_answer(leased.document, lasts_s, request_id=self._number())

    async def _mount(self, path: str) -> EngineMount:
        mount = await self.broker.mount(self.session, path)
        if mount.is_reserved:
            raise out_of_reach(path)
        return mount

    # --- leases and wrapping --------------------------------------------------------------------
    async def _of_lease(self, request: ApiRequest, turn: Turn) -> ApiAnswer:
        document = request.document()
        lease = document.get("lease_id")
        if not isinstance(lease, str) or not (lease in self._leases or self.session.holds(lease)):
            raise HttpRefusal(
                403,
                "this is no lease of this pod",
                remedy="name a lease_id that this pod was given on this socket",
                step="lease",
            )
        answer = await self._pass(request, turn, body=_part(request, _LEASE_FIELDS))
        if request.path == "sys/leases/revoke" and answer.status < 400:
            self._leases.pop(lease, None)
            self.broker.release(self.session, lease)
        return answer

    async def _wrapped(self, request: ApiRequest, turn: Turn) -> ApiAnswer:
        """The pod asks, and the wrapping token is what it asks about. Clients without a token of their
        own send that one in its place."""
        token = request.document().get("token")
        if not token and request.sent_token is not None:
            token = request.sent_token.reveal()
        if not isinstance(token, str) or not token:
            raise HttpRefusal(
                400, "there is no wrapping token", remedy="send one as `token`", step="wrapping"
            )
        return await self._pass(request, turn, body=Secret(json.dumps({"token": token})))

    # --- Vault ----------------------------------------------------------------------------------
    async def _pass(
        self, request: ApiRequest, turn: Turn, *, body: Secret | None = None
    ) -> ApiAnswer:
        asked = VaultExchange(
            method=request.method,
            path=request.path,
            query=request.query,
            body=body or request.body,
            merge_patch=request.merge_patch,
            wrap_ttl=request.wrap_ttl,
        )
        return self._passed(request, await self._ask(asked, turn))

    async def _ask(self, asked: VaultExchange, turn: Turn) -> VaultAnswer:
        await turn()
        try:
            return await self.broker.exchange(
                self.session, asked, may_show_token=asked.path == LOOKUP
            )
        except TokenShownError as error:
            raise _token_shown(error) from None

    def _passed(self, request: ApiRequest, answer: VaultAnswer) -> ApiAnswer:
        granted = answer.status < 400 or request.purpose is Purpose.HEALTH
        self._recorded(
            request, "granted" if granted else "denied", reason="" if granted else "vault"
        )
        lease = answer.document.get("lease_id")
        if isinstance(lease, str) and lease and request.purpose is Purpose.DATA:
            self._leases.pop(lease, None)
            self._leases[lease] = None
            if len(self._leases) > MOST_LEASES:
                del self._leases[next(iter(self._leases))]
        return ApiAnswer.of(answer.status, answer.body)

    # --- records --------------------------------------------------------------------------------
    def _recorded(
        self, request: ApiRequest, result: Result, *, reason: str = "", of: Reading | None = None
    ) -> None:
        self._record(operation_of(request), request.path, result, reason=reason, of=of)

    def _record(
        self,
        operation: Operation,
        path: str,
        result: Result,
        *,
        reason: str,
        of: Reading | None = None,
    ) -> None:
        self.audit.record(
            subject_of(self.session.account.pod),
            operation,
            result,
            path=self.session.account.located(path),
            role=self.session.account.role,
            reason=reason,
            version=of.document.version if of else None,
            cached=of.cached if of else False,
        )

    def _number(self) -> str:
        """Vault has one in each of its answers."""
        return f"{int(self.process.dice.random() * 2**64):016x}"


def _token_shown(error: TokenShownError) -> HttpRefusal:
    return HttpRefusal(
        502,
        error.why,
        remedy="nothing that shows it is passed on; ask for something else",
        step="token",
    )


def _part(request: ApiRequest, names: Collection[str]) -> Secret:
    """Of the body, what has one of these names: a token in it is not ours to send."""
    known = request.document().items()
    return Secret(json.dumps({name: value for name, value in known if name in names}))
