"""A CSI node driver that shows each pod what kubelet said of it: run in a privileged container.

    driver.py NAME KUBELETS_ROOT

It registers with kubelet, and mounts to each pod a directory with two files: `context.json`, what
kubelet says of the pod, and `claims.json`, the readable part of the pod's token.
"""

import base64
import json
import subprocess
import sys
from collections.abc import Callable
from concurrent import futures
from pathlib import Path

import grpc  # type: ignore[import-untyped]  # Debian's, in the image alone

from tests.e2e.testbed.csi_driver.protobuf_wire import mapping, string, text

NAME, ROOT = sys.argv[1], Path(sys.argv[2])
PLUGIN = ROOT / "plugins" / NAME
TOKENS = "csi.storage.k8s.io/serviceAccount.tokens"

Method = Callable[[bytes], bytes]


def plugin_info(_: bytes) -> bytes:
    endpoint = string(3, str(PLUGIN / "csi.sock"))
    return string(1, "CSIPlugin") + string(2, NAME) + endpoint + string(4, "1.0.0")


def registered(_: bytes) -> bytes:
    print("kubelet has registered the driver", flush=True)
    return b""


def driver_info(_: bytes) -> bytes:
    return string(1, NAME) + string(2, "1.0.0")


def node_info(_: bytes) -> bytes:
    return string(1, "localhost")


def nothing_special(_: bytes) -> bytes:
    return b""


def publish(request: bytes) -> bytes:
    target = Path(text(request, 4))
    context, secrets = mapping(request, 8), mapping(request, 7)
    source = PLUGIN / "volumes" / context["csi.storage.k8s.io/pod.uid"]
    source.mkdir(parents=True, exist_ok=True)
    tokens = json.loads(secrets.get(TOKENS) or context.pop(TOKENS, "{}"))
    claims = {audience: _claims(given["token"]) for audience, given in tokens.items()}
    (source / "context.json").write_text(json.dumps(context))
    (source / "claims.json").write_text(json.dumps(claims))
    if not is_mounted(target):
        target.mkdir(parents=True, exist_ok=True)
        subprocess.run(["mount", "--bind", source, target], check=True)
    print(f"published to {context['csi.storage.k8s.io/pod.name']}", flush=True)
    return b""


def unpublish(request: bytes) -> bytes:
    target = Path(text(request, 2))
    if is_mounted(target):
        subprocess.run(["umount", target], check=True)
    target.rmdir()
    print("unpublished", flush=True)
    return b""


def is_mounted(target: Path) -> bool:
    """From mountinfo: a bind mount within one file system has the same device as its parent."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    return str(target) in {line.split()[4] for line in lines}


def _claims(token: str) -> object:
    payload = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))


REGISTRATION: dict[str, Method] = {
    "/pluginregistration.Registration/GetInfo": plugin_info,
    "/pluginregistration.Registration/NotifyRegistrationStatus": registered,
}
CSI: dict[str, Method] = {
    "/csi.v1.Identity/GetPluginInfo": driver_info,
    "/csi.v1.Identity/GetPluginCapabilities": nothing_special,
    "/csi.v1.Identity/Probe": nothing_special,
    "/csi.v1.Node/NodeGetInfo": node_info,
    "/csi.v1.Node/NodeGetCapabilities": nothing_special,
    "/csi.v1.Node/NodePublishVolume": publish,
    "/csi.v1.Node/NodeUnpublishVolume": unpublish,
}


class Methods(grpc.GenericRpcHandler):  # type: ignore[misc]  # grpc has no types here
    """Our functions by the full name of their method, from bytes to bytes."""

    def __init__(self, methods: dict[str, Method]) -> None:
        self._methods = methods

    def service(self, details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler | None:
        method = self._methods.get(details.method)
        if method is None:
            return None
        return grpc.unary_unary_rpc_method_handler(lambda request, _: method(request))


def serve(socket: Path, methods: dict[str, Method]) -> grpc.Server:
    socket.parent.mkdir(parents=True, exist_ok=True)
    socket.unlink(missing_ok=True)
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=2))
    server.add_generic_rpc_handlers((Methods(methods),))
    server.add_insecure_port(f"unix:{socket}")
    server.start()
    return server


if __name__ == "__main__":
    # Both are kept: a server that nobody holds is stopped. The registration comes last: with its
    # socket there, kubelet takes the driver for ready.
    csi = serve(PLUGIN / "csi.sock", CSI)
    registration = serve(ROOT / "plugins_registry" / f"{NAME}-reg.sock", REGISTRATION)
    registration.wait_for_termination()
