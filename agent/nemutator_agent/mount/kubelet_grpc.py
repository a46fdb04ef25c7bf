"""The services that kubelet calls: the registration of the driver, its identity, and its node service.

`csi.py` knows what their messages mean. Each failure of ours becomes a gRPC status, whose text kubelet
shows as an Event on the pod.
"""

import asyncio
import contextlib
import logging
import os
from collections.abc import Awaitable, Callable
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any, NoReturn, Protocol

import grpc  # type: ignore[import-untyped]
import grpc.aio  # type: ignore[import-untyped]
from nemutator_common import __version__, names
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.meters import Meter
from nemutator_common.process import Process

from nemutator_agent.mount import csi
from nemutator_agent.mount.failures import CredentialsUnavailableError
from nemutator_agent.mount.protobuf import MalformedMessageError
from nemutator_agent.mount.publishing import TooManyVolumesError, VolumePublisher
from nemutator_agent.mount.volumes import InvalidVolumeError, ended_volume, volume_of

log = logging.getLogger(__name__)

MOST_CALLS = 64
"""Calls at a time. Kubelet publishes few volumes together, and repeats a call that is refused."""

PUBLISH_S = 30.0
"""The deadline of one publication, which includes its wait for other calls about the same volume."""

STOP_S = 1.0

PART = "kubelet"
"""The part of the process that is not ready until kubelet has registered the driver."""

Method = Callable[[bytes], Awaitable[bytes]]


class Context(Protocol):
    """The part of a call's context that is used here: grpc has no types."""

    async def abort(self, code: Any, details: str) -> NoReturn: ...


@dataclass(eq=False, slots=True)
class KubeletCalls:
    """Both sockets. `bind()`, then `run()` until cancelled."""

    publisher: VolumePublisher
    process: Process
    _: KW_ONLY
    driver: str
    node: str
    kubelet_root: str
    plugin_socket: Path
    registration_socket: Path
    _servers: list[Any] = field(default_factory=list, init=False)

    async def bind(self) -> None:
        """Answer on both sockets. The registration comes last, because kubelet calls from then on."""
        self.process.readiness.fail(PART, "kubelet has not registered the driver yet")
        identity = "/csi.v1.Identity/"
        node = "/csi.v1.Node/"
        registration = "/pluginregistration.Registration/"
        await self._serve(
            self.plugin_socket,
            {
                f"{identity}GetPluginInfo": _always(csi.plugin_info(self.driver, __version__)),
                f"{identity}GetPluginCapabilities": _always(b""),
                f"{identity}Probe": _always(csi.probed()),
                f"{node}NodeGetInfo": _always(csi.node_info(self.node)),
                f"{node}NodeGetCapabilities": _always(b""),
                f"{node}NodePublishVolume": self._publish,
                f"{node}NodeUnpublishVolume": self._unpublish,
            },
        )
        endpoint = os.fspath(self.plugin_socket)
        await self._serve(
            self.registration_socket,
            {
                f"{registration}GetInfo": _always(csi.plugin_registration(self.driver, endpoint)),
                f"{registration}NotifyRegistrationStatus": self._registered,
            },
        )

    async def run(self) -> None:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            await self.close()

    async def close(self) -> None:
        # First, so that kubelet does not call a driver that is about to end.
        _remove(self.registration_socket)
        for server in self._servers:
            await server.stop(STOP_S)

    async def _serve(self, path: Path, methods: dict[str, Method]) -> None:
        server = grpc.aio.server(
            options=[
                ("grpc.max_receive_message_length", csi.LARGEST_REQUEST),
                ("grpc.max_send_message_length", csi.LARGEST_REQUEST),
            ],
            maximum_concurrent_rpcs=MOST_CALLS,
        )
        server.add_generic_rpc_handlers((_Methods(methods, self.process.meter),))
        _listen(server, path)
        await server.start()
        self._servers.append(server)

    async def _publish(self, message: bytes) -> bytes:
        volume = volume_of(csi.parse_publish(message), self.kubelet_root)
        await self.publisher.publish(volume)
        return b""

    async def _unpublish(self, message: bytes) -> bytes:
        volume_id, target = ended_volume(csi.parse_unpublish(message), self.kubelet_root)
        await self.publisher.unpublish(volume_id, target)
        return b""

    async def _registered(self, message: bytes) -> bytes:
        status = csi.parse_registration(message)
        if status.registered:
            self.process.readiness.pass_(PART)
            log.info("registered_with_kubelet", {names.ADDRESS: self.plugin_socket})
        else:
            self.process.readiness.fail(PART, f"kubelet refused the driver: {status.error[:200]}")
            log.error("not_registered_with_kubelet", {names.ERROR: status.error[:200]})
        return b""


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()


def _listen(server: Any, path: Path) -> None:
    # A process that can connect can have volumes mounted.
    before = os.umask(0o177)
    try:
        path.unlink(missing_ok=True)
        server.add_insecure_port(f"unix:{path}")
    except (OSError, RuntimeError) as error:
        raise OperatorError(
            f"cannot listen on {path}: {error}",
            remedy="the settings kubelet_root, plugin_dir and registry_dir must be directories "
            "of kubelet's that this process can write",
            code=ExitCode.ADDRESS_IN_USE,
        ) from error
    finally:
        os.umask(before)


class _Methods(grpc.GenericRpcHandler):  # type: ignore[misc]  # grpc has no types
    def __init__(self, methods: dict[str, Method], meter: Meter) -> None:
        self._methods = methods
        self._meter = meter

    def service(self, details: grpc.HandlerCallDetails) -> Any:
        method = self._methods.get(details.method)
        if method is None:
            return None
        name = details.method.rpartition("/")[2]

        def count(result: str) -> None:
            self._meter.count(names.KUBELET_CALLS, method=name, result=result)

        return grpc.unary_unary_rpc_method_handler(_guarded(method, count))


def _always(answer: bytes) -> Method:
    async def method(_: bytes) -> bytes:
        return answer

    return method


def _guarded(
    method: Method, count: Callable[[str], None]
) -> Callable[[bytes, Context], Awaitable[bytes]]:
    async def call(message: bytes, context: Context) -> bytes:
        try:
            async with asyncio.timeout(PUBLISH_S):
                answer = await method(message)
            count("ok")
            return answer
        except (InvalidVolumeError, MalformedMessageError) as error:
            code, why = grpc.StatusCode.INVALID_ARGUMENT, str(error)
        except TooManyVolumesError as error:
            code, why = grpc.StatusCode.RESOURCE_EXHAUSTED, str(error)
        except CredentialsUnavailableError as error:
            code, why = grpc.StatusCode.UNAVAILABLE, str(error)
        except TimeoutError:
            code, why = grpc.StatusCode.DEADLINE_EXCEEDED, f"not within {PUBLISH_S:g} s"
        except OSError as error:
            # Not INTERNAL: kubelet takes that for final, and never unpublishes a volume that failed so,
            # although a part of it may be there (isFinalError, pkg/volume/csi).
            code, why = grpc.StatusCode.UNAVAILABLE, f"{error.strerror}: {error.filename or ''}"
        count(code.name.lower())
        log.warning("kubelet_refused", {names.REASON: code.name.lower(), names.ERROR: why})
        return await context.abort(code, f"nemutator: {why}")

    return call
