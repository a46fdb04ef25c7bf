"""Run in a guest as root: mount and credentials in pods' control groups, and kubelet's part played.

Prints, as JSON, what the volume's socket answered to each caller; systemd makes the groups, as with
its driver. Nobody is where Vault should be: who is who is decided before it is asked.
"""

import json
import subprocess
import sys
from pathlib import Path

import grpc  # type: ignore[import-untyped]

from tests.agent.mount.requests import CONTEXT, publish_message, unpublish_message
from tests.testbed.running.waiting import until

KUBELET = Path("/var/lib/kubelet")
PLUGIN = KUBELET / "plugins/agent.nemutator.io/csi.sock"
REGISTRATION = KUBELET / "plugins_registry/agent.nemutator.io-reg.sock"
PRIVATE = Path("/run/nemutator-agent")

OWN = "00000000-0000-4000-8000-000000000001"
POD = "11111111-1111-4111-8111-111111111111"
OTHER = "22222222-2222-4222-8222-222222222222"
VOLUME = "csi-1"
TARGET = KUBELET / "pods" / POD / "volumes/kubernetes.io~csi/nemutator/mount"

WITHIN_S = 240.0

CALLER = """\
import http.client, os, socket, sys, time
def join(group):
    with open(group + "/cgroup.procs", "w") as members:
        members.write(str(os.getpid()))
before, after = sys.argv[1:]
join(before)
while True:
    connection = http.client.HTTPConnection("agent", timeout=240)
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.connect("agent.sock")
    if after:
        join(after)
    connection.request("GET", "/v1/secret/db")
    answer = connection.getresponse()
    body = answer.read().decode()
    # Before Linux 6.5, a process that has only just started has to connect again.
    if '"step": "start"' not in body:
        break
    time.sleep(0.2)
print(answer.status, body)
"""


def slice_of(uid: str) -> str:
    return f"kubepods-burstable-pod{uid.replace('-', '_')}.slice"


def in_pod(uid: str, container: str, *command: str) -> list[str]:
    """A command that runs *command* as a container of a pod."""
    unit = f"cri-containerd-{container * 64}.scope"
    scope = ["--scope", "--quiet", f"--slice={slice_of(uid)}", f"--unit={unit}"]
    return ["systemd-run", *scope, "-p", "Delegate=yes", *command]


def main() -> int:
    TARGET.parent.mkdir(parents=True)
    REGISTRATION.parent.mkdir(parents=True)
    credentials = ["credentials", f"--data-dir={PRIVATE}/credentials"]
    commands = [
        in_pod(POD, "a", "sleep", "infinity"),
        in_pod(OTHER, "d", "sleep", "infinity"),
        in_pod(OWN, "b", "nemutator-agent", "mount", f"--data-dir={PRIVATE}/mount"),
        # As containers have it with version 2: a namespace in which it is the root itself.
        in_pod(
            OWN, "c", "unshare", "--cgroup",
            "nemutator-agent", *credentials, "--vault-address=http://127.0.0.1:1",
        ),
    ]  # fmt: skip
    processes = [subprocess.Popen(command, stdout=sys.stderr) for command in commands]
    try:
        until(
            lambda: group(POD, "a").is_dir() and group(OTHER, "d").is_dir(),
            "the pods run",
            within_s=WITHIN_S,
        )
        until(REGISTRATION.exists, "mount shows itself to kubelet", within_s=WITHIN_S)
        with grpc.insecure_channel(f"unix:{PLUGIN}") as plugin:
            publish(plugin)
            answers: dict[str, object] = {name: asked(*where) for name, where in callers().items()}
            unpublish = plugin.unary_unary("/csi.v1.Node/NodeUnpublishVolume")
            unpublish(unpublish_message(target=str(TARGET)), timeout=WITHIN_S)
        answers["mounts left"] = (
            Path("/proc/self/mountinfo").read_text().count(" - tmpfs nemutator ")
        )
        print(json.dumps(answers))
    finally:
        subprocess.run(["systemctl", "stop", "kubepods.slice"], check=True)
        for process in processes:
            process.wait(WITHIN_S)
    return 0


def callers() -> dict[str, tuple[Path, Path | None]]:
    """By what they are: the group in which they connect, and another one in which they then ask."""
    claim = Path(slice_of(POD), f"cri-containerd-{'a' * 64}.scope")
    delegated = Path("/sys/fs/cgroup/user.slice/kubepods.slice/kubepods-burstable.slice")
    return {
        "a container of the pod": (group(POD, "a"), None),
        "its subgroup": (group(POD, "a") / "init", None),
        "another pod": (group(OTHER, "d"), None),
        "a subgroup of another pod with the pod's name": (group(OTHER, "d") / claim, None),
        "a delegated subtree with the pod's name": (delegated / claim, None),
        "the node": (Path("/sys/fs/cgroup/system.slice/ssh.service"), None),
        "who has moved away": (group(POD, "a"), group(OTHER, "d")),
    }


def group(uid: str, container: str) -> Path:
    burstable = Path("/sys/fs/cgroup/kubepods.slice/kubepods-burstable.slice")
    return burstable / slice_of(uid) / f"cri-containerd-{container * 64}.scope"


def publish(plugin: grpc.Channel) -> None:
    """As kubelet does: again and again, until it is done."""
    context = {**CONTEXT, "csi.storage.k8s.io/pod.uid": POD}
    message = publish_message(volume_id=VOLUME, target=str(TARGET), context=context)
    call = plugin.unary_unary("/csi.v1.Node/NodePublishVolume")

    def done() -> bool:
        try:
            call(message, timeout=WITHIN_S)
        except grpc.RpcError as error:
            if error.code() != grpc.StatusCode.UNAVAILABLE:
                raise
            return False
        return True

    until(done, "the volume is published", within_s=WITHIN_S)


def asked(where: Path, then: Path | None) -> list[object]:
    """Status and body, for a process that connects in *where* and asks in *then*."""
    for path in (where, *([then] if then else ())):
        path.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-c", CALLER, str(where), str(then or "")]
    ran = subprocess.run(
        command, cwd=TARGET, capture_output=True, text=True, timeout=WITHIN_S, check=True
    )
    status, _, body = ran.stdout.partition(" ")
    return [int(status), body.strip()]


if __name__ == "__main__":
    sys.exit(main())
