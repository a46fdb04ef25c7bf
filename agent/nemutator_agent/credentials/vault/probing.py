"""The circuit breaker between this node and Vault, and the probe that closes it after an outage."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_agent.credentials.vault.circuit_breaker import CircuitBreaker, CircuitState
from nemutator_agent.credentials.vault.failures import (
    VaultError,
    VaultNotAskedError,
    VaultUnavailableError,
)

log = logging.getLogger(__name__)

PART = "vault"
"""The name of the circuit in `/readyz`."""

_STATES: tuple[CircuitState, ...] = ("closed", "half_open", "open")


@dataclass(eq=False, slots=True)
class VaultCircuit:
    process: Process
    probe: Callable[[], Awaitable[None]]
    """Asks whether Vault is well; raises a VaultUnavailableError where it is not."""
    _breaker: CircuitBreaker = field(default_factory=CircuitBreaker, init=False)
    _shown: CircuitState = field(default="closed", init=False)
    _opened: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    def check(self, caller: Hashable) -> None:
        """Raises a VaultNotAskedError where *caller* must not ask now."""
        now = self.process.clock.monotonic()
        if self._breaker.admits(caller, now):
            return
        last = self._breaker.outage
        assert last is not None, "without an outage everybody is admitted"
        wait_s = max(self._breaker.until - now, 1.0)
        raise VaultNotAskedError(last.reason, last.why, retry_after_s=wait_s)

    def succeeded(self) -> None:
        self._breaker.succeeded()
        self._show()

    def failed(self, caller: Hashable, outage: VaultUnavailableError) -> None:
        now, roll = self.process.clock.monotonic(), self.process.dice.random()
        self._breaker.failed(caller, outage, now, roll=roll)
        self._show()

    def left(self, caller: Hashable) -> None:
        self._breaker.left(caller)

    async def run(self) -> None:
        while True:
            await self._opened.wait()
            await self.process.clock.sleep(self._breaker.until - self.process.clock.monotonic())
            found: VaultUnavailableError | None = None
            try:
                await self.probe()
            except VaultUnavailableError as outage:
                # What keeps a probe from Vault may let a pod's call pass: that call will show it.
                found = None if outage.reason == "malformed" else outage
            except VaultError:
                # Vault answers, and does not tell everybody how it is.
                pass
            now, roll = self.process.clock.monotonic(), self.process.dice.random()
            self._breaker.probed(found, now, roll=roll)
            self._show()

    def _show(self) -> None:
        """Each change once: in the metric, in the log and in `/readyz`."""
        state, outage = self._breaker.state, self._breaker.outage
        if state == self._shown:
            return
        before, self._shown = self._shown, state
        self.process.meter.gauge(names.VAULT_CIRCUIT, _STATES.index(state))
        if state == "open":
            self._opened.set()
        else:
            self._opened.clear()
        if outage is None:
            self.process.readiness.pass_(PART)
            log.info("vault_answers_again")
        elif state == "half_open":
            self.process.readiness.pass_(PART)
        else:
            self.process.readiness.fail(PART, f"Vault is not asked: {outage.why}")
            if before == "closed":
                log.warning(
                    "vault_not_asked", {names.REASON: outage.reason, names.ERROR: outage.why}
                )
