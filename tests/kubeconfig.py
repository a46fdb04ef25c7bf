"""How a person gets in: a kubeconfig, with whatever plugin it names.

The official package knows every corner of that file. It is read in a process of its own, because
importing it costs a second and 60 MB, and because a plugin that hangs can then be ended with it.
Plugins run without a terminal: one that must ask a person says so on standard error.
"""

import asyncio
import contextlib
import json
import logging
import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from nemutator_common.clocks import Clock
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.secret import Secret
from nemutator_controller.kube.configuration import Access

PLUGIN_S = 60.0
"""A plugin may call a cloud; one that takes longer waits for somebody who is not there."""

BEFORE_EXPIRY_S = 60.0
"""So long before its end a token is replaced."""

JUST_NOW_S = 5.0
"""What was read so recently is not read again, however many requests were refused together."""


class _Found(msgspec.Struct, forbid_unknown_fields=True):
    """What the reading process found. It goes through a pipe and nowhere else."""

    server: str = ""
    ca: str | None = None
    token: str | None = None
    client_certificate: str | None = None
    client_key: str | None = None
    server_name: str | None = None
    insecure: bool = False
    expires_at: float | None = None
    problem: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class _Read:
    access: Access
    at: float
    expires_at: float | None


class Kubeconfig:
    """A `Configuration` from a kubeconfig; without *path*, from where kubectl looks."""

    def __init__(
        self,
        clock: Clock,
        *,
        path: Path | None = None,
        context: str = "",
        plugin_s: float = PLUGIN_S,
    ) -> None:
        self._clock = clock
        self._path = path
        self._context = context
        self._plugin_s = plugin_s
        self._last: _Read | None = None
        self._reading = asyncio.Lock()

    async def access(self, *, renew: bool = False) -> Access:
        async with self._reading:
            if self._last is None or self._is_over(self._last, renew=renew):
                found = await self._find()
                self._last = _Read(_access(found), self._clock.monotonic(), found.expires_at)
            return self._last.access

    def _is_over(self, last: _Read, *, renew: bool) -> bool:
        if renew:
            return self._clock.monotonic() - last.at >= JUST_NOW_S
        expires_at = last.expires_at
        return expires_at is not None and self._clock.now() >= expires_at - BEFORE_EXPIRY_S

    async def _find(self) -> _Found:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tests.kubeconfig",
            str(self._path.absolute()) if self._path else "",
            self._context,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            start_new_session=True,
            cwd=Path(__file__).parents[1],
        )
        try:
            async with asyncio.timeout(self._plugin_s):
                output, _ = await process.communicate()
            found = msgspec.json.decode(output, type=_Found)
        except TimeoutError:
            found = _Found(problem=f"its plugin did not answer in {self._plugin_s:g} s")
        except msgspec.DecodeError:
            found = _Found(problem=f"it cannot be read (exit code {process.returncode})")
        finally:
            # The plugin is the child of our child: end all of them.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
        if found.problem:
            raise OperatorError(
                f"kubeconfig {self._path or '(default)'}: {found.problem}",
                remedy=found.remedy or "try `kubectl get --raw /version` with the same file",
                code=ExitCode.UNREACHABLE,
            )
        return found


def _access(found: _Found) -> Access:
    return Access(
        server=found.server.rstrip("/"),
        ca=found.ca,
        token=Secret(found.token) if found.token else None,
        client_certificate=found.client_certificate,
        client_key=Secret(found.client_key) if found.client_key else None,
        server_name=found.server_name,
        insecure=found.insecure,
    )


def read_by_package(path: str, context: str) -> _Found:
    """What the official package makes of the file. In the reading process only."""
    from kubernetes.client import Configuration
    from kubernetes.config import ConfigException
    from kubernetes.config.kube_config import (
        KUBE_CONFIG_DEFAULT_LOCATION,
        KubeConfigLoader,
        KubeConfigMerger,
    )

    # The package only logs that a plugin failed, and goes on without credentials.
    complaints = _Complaints()
    logging.getLogger().addHandler(complaints)
    configuration: Any = Configuration()
    try:
        merge: Any = KubeConfigMerger  # untyped
        merged = merge(path or KUBE_CONFIG_DEFAULT_LOCATION).config
        if merged is None:
            return _Found(problem="no such file", remedy="name one that exists")
        load: Any = KubeConfigLoader
        # Without a base, a relative path is relative to the file that it stands in.
        loader = load(config_dict=merged, active_context=context or None, config_base_path=None)
        loader.load_and_set(configuration)
    except (ConfigException, OSError) as error:
        return _Found(problem=str(error)[:500])
    except Exception as error:  # noqa: BLE001 - see below
        # Whatever it trips over is in the file, and its message may quote a secret from there.
        return _Found(problem=f"it is no kubeconfig ({type(error).__name__})")
    if complaints.said:
        return _Found(problem="; ".join(complaints.said)[:500])
    keys = configuration.api_key
    bearer = keys.get("BearerToken") or keys.get("authorization") or ""
    if bearer.startswith("Basic "):
        return _Found(
            problem="it has a user name and a password, which no API server takes since 1.19",
            remedy="use a token, a client certificate or a plugin",
        )
    expiry = getattr(loader, "expiry", None)
    return _Found(
        server=configuration.host,
        ca=_content(configuration.ssl_ca_cert),
        token=bearer.removeprefix("Bearer ") or None,
        client_certificate=_content(configuration.cert_file),
        client_key=_content(configuration.key_file),
        server_name=getattr(configuration, "tls_server_name", None),
        insecure=not configuration.verify_ssl,
        expires_at=expiry.timestamp() if expiry else None,
    )


class _Complaints(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(record.getMessage())


def _content(path: str | None) -> str | None:
    return Path(path).read_text() if path else None


if __name__ == "__main__":
    sys.stdout.write(json.dumps(msgspec.to_builtins(read_by_package(*sys.argv[1:3]))))
