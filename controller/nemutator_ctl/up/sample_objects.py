"""What is put up so that a new user has something to try, and the commands that try it."""

import shlex
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nemutator_common import names

from nemutator_ctl.edits import ShownObject
from nemutator_ctl.terminal_text import visible
from nemutator_ctl.up.command_lines import Typed

SECRET = "greeting"  # noqa: S105 - its name
VALUE = "hello from nemutator"

POLICY: dict[str, Any] = {
    "apiVersion": f"{names.DOMAIN}/v1alpha1",
    "kind": "MutationPolicy",
    "metadata": {"name": "sample-owners"},
    "spec": {
        "match": {"namespaces": ["sample"]},
        "mode": "Apply",
        "mutations": [
            {"labels": {"set": {"team": "shop"}}},
            {"resources": {"requests": {"cpu": {"ratio": 0.25}}}},
        ],
    },
}

MANIFEST: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "shop", "namespace": "sample"},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"app": "shop"}},
        "template": {
            "metadata": {"labels": {"app": "shop"}},
            "spec": {
                "containers": [
                    {
                        "name": "shop",
                        "image": "example.com/shop:1",
                        "resources": {"requests": {"cpu": "1", "memory": "256Mi"}},
                    }
                ]
            },
        },
    },
}
"""Nothing runs it: without a cluster, manifests are what policies change."""

FILE = Path("Deployment", MANIFEST["metadata"]["namespace"], f"{MANIFEST['metadata']['name']}.json")
"""Where the brain keeps that manifest, below the data directory's objects."""


@dataclass(frozen=True, slots=True)
class PutUp:
    """What there is to be tried."""

    secret: str
    mutation: str | None
    """Id of a mutation that can be rolled back; None when there is none (any more)."""


def absent(there: Collection[ShownObject]) -> list[dict[str, Any]]:
    """What is not among the objects that are *there* already, in the order to put it up.

    What is there may be a person's own by now, and we leave it alone whatever is in it.
    """
    return [one for one in (POLICY, MANIFEST) if _name_of(one) not in there]


def _name_of(document: dict[str, Any]) -> ShownObject:
    metadata = document["metadata"]
    return ShownObject(document["kind"], metadata.get("namespace", ""), metadata["name"])


def to_try(there: PutUp, typed: Typed, *, objects: Path) -> str:
    """A command for each job but profiles; *objects* is where the brain keeps manifests."""
    socket = shlex.quote(str(typed.data_dir / names.POD_SOCKET))
    url = f"http://nemutator/v1/secret/{there.secret}"
    lines = [
        f"    a secret     curl --silent --unix-socket {socket} {url}",
        f"    advice       {typed.command('advise')}",
    ]
    if there.mutation is not None:
        rollback = typed.command("rollback")
        lines.append(f"    a rollback   {rollback} {shlex.quote(there.mutation)}")
    else:
        # What was put up has been rolled back, or changed by somebody.
        lines += [
            "    a rollback   nothing is left to roll back; there is something again after this,",
            f"                 while the policy `{POLICY['metadata']['name']}` is in mode Apply:",
            f"                 {typed.command('apply')} {shlex.quote(str(objects / FILE))}",
        ]
    return _block("Try", lines)


def profiled(pid: int, typed: Typed) -> str:
    """Once the sample has been profiled: before, nobody knows whether that works here."""
    command = f"    a profile    {typed.command('profile')} pid:{pid} --seconds 10"
    seen = "    the flame graph of the sample service `shop` is on the page: Profiles"
    return _block("Try", [command, "  Seen", seen])


def not_shown(problem: str) -> str:
    """Why something of it is not there, with its remedy."""
    return _block("Not shown", [f"    {visible(line, limit=300)}" for line in problem.splitlines()])


def _block(title: str, lines: Iterable[str]) -> str:
    return "\n".join([f"  {title}", *lines, "", ""])
