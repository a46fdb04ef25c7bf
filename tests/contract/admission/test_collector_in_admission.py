"""The whole process of admission sets survivors of the garbage collector aside, and examines them again only when memory has doubled:
to examine all of them holds up each pod that is asked about meanwhile."""

import os
import subprocess
import sys
from pathlib import Path

from tests.fakes.kube.certificates import AuthorityFiles

PATIENCE_S = 120.0

BESIDE = """
import gc, os, sys, threading
from pathlib import Path
from nemutator_controller.__main__ import main

def look(socket):
    while not socket.exists():
        threading.Event().wait(0.05)
    # What goes meanwhile is taken off: half of what is new has to be there.
    aside = gc.get_freeze_count() + 25_000
    kept = [[] for _ in range(50_000)]
    for _ in range(3):
        gc.collect(1)
    print(gc.get_freeze_count() >= aside)
    more = [str(number) for number in range(10**6, 10**6 + sys.getallocatedblocks() * 3 // 10)]
    gc.collect(1)
    print(gc.get_freeze_count() >= aside, flush=True)
    os._exit(0)

threading.Thread(target=look, args=[Path(sys.argv.pop(1))], daemon=True).start()
sys.exit(main())
"""


def test_survivors_are_set_aside_and_left_alone_until_memory_has_doubled(tmp_path: Path) -> None:
    account = tmp_path / "account"
    account.mkdir()
    (account / "token").write_text("t")
    authority = AuthorityFiles(tmp_path)
    authority.server_context()
    (account / "ca.crt").write_bytes(authority.pem)
    data = tmp_path / "data"
    done = subprocess.run(
        [
            sys.executable, "-c", BESIDE, str(data / "admission.sock"), "admission",
            f"--data-dir={data}", "--address=127.0.0.1:0", f"--service-account={account}",
            f"--tls-certificate={tmp_path / 'server.crt'}", f"--tls-key={tmp_path / 'server.key'}",
        ],
        env={
            **{name: value for name, value in os.environ.items() if "NEMUTATOR" not in name},
            # Nobody listens there: it goes on asking.
            "KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT_HTTPS": "1",
        },
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout.split()) == (0, ["True", "True"]), done.stderr[-2000:]
