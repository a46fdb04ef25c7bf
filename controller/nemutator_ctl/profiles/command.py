"""`nemutator profile`, from its command line to its output."""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from nemutator_common.errors import ExitCode
from nemutator_common.profiles import pprof
from nemutator_common.profiles.model import functions
from nemutator_common.wire import USUAL_HIGHEST_PROFILE_HZ, USUAL_LONGEST_PROFILE_S

from nemutator_ctl import arguments, profile_files
from nemutator_ctl.answers import not_understood
from nemutator_ctl.api import Api
from nemutator_ctl.profiles.heap_view import heap_view
from nemutator_ctl.profiles.kept_view import decode_kept, kept_view
from nemutator_ctl.profiles.off_cpu_view import off_cpu_view
from nemutator_ctl.profiles.requests import (
    PATH,
    ShownProfile,
    decode,
    rendering,
    seconds,
    target,
)
from nemutator_ctl.profiles.targets_view import TARGETS_PATH, decode_targets, targets_view
from nemutator_ctl.profiles.view import progress, unmade, view

POLL_S = 0.5
MOST_KEPT = 500


def main(argv: Sequence[str]) -> int:
    parser = arguments.parser(
        "profile",
        "Find out where CPU time goes, or memory, or what is waited for: nothing in the target is changed.",
        output=False,
        remote=True,
    )
    parser.add_argument(
        "target",
        nargs="?",
        help="pid:123, cgroup:/path, NAMESPACE/POD, or the name of a process, unit or pod that no"
        " other has; without it, what there is is listed",
    )
    parser.add_argument(
        "--kept",
        action="store_true",
        help="make none: show the one whose id TARGET is, or list all that are kept",
    )
    arguments.add_cluster(parser)
    what_of = parser.add_mutually_exclusive_group()
    what_of.add_argument(
        "--heap",
        action="store_true",
        help="what a Go program has allocated and still uses, instead of its CPU time",
    )
    what_of.add_argument(
        "--off-cpu",
        action="store_true",
        help="where threads are blocked in the kernel, and for how long, instead of their CPU time",
    )
    what_of.add_argument(
        "--threads",
        action="store_true",
        help="tell the threads of a process apart: pprof has labels of each (thread, thread_name)",
    )
    parser.add_argument("--node", help="which machine, when several report")
    parser.add_argument(
        "--seconds",
        default="30",
        help=f"how long (30; usually at most {USUAL_LONGEST_PROFILE_S:.0f})",
    )
    parser.add_argument(
        "--hz",
        type=int,
        default=99,
        help=f"samples a second of CPU time (99; usually at most {USUAL_HIGHEST_PROFILE_HZ})",
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="save it: x.pb.gz, x.folded or x.html"
    )
    given = parser.parse_args(argv)
    if given.cluster is not None and not given.kept:
        parser.error("--cluster: of another cluster profiles are shown, with --kept, and not made")
    # This comes before anything is profiled: a file that cannot be written should not cost half a minute.
    what = None if given.output is None else rendering(given.output)
    if what is not None:
        profile_files.check(given.output)
    api, path = arguments.brain(given), arguments.of_cluster(given, PATH)
    if given.kept and given.target is None:
        sys.stdout.write(kept_view(decode_kept(api.get(path, {"limit": str(MOST_KEPT)}))))
        return ExitCode.OK
    if given.target is None:
        query = {} if given.node is None else {"node": given.node}
        sys.stdout.write(targets_view(decode_targets(api.get(TARGETS_PATH, query))))
        return ExitCode.OK
    if given.kept:
        profile = decode(api.get(f"{path}/{quote(given.target, safe='')}"))
    else:
        profile = _made(api, given)
    if profile.state != "done":
        raise unmade(profile)
    sys.stdout.write(_shown(api, profile, path))
    if what is not None:
        content = api.content(f"{path}/{profile.id}/{what}")
        kept = "the profile is kept: on the page, Profiles has its files"
        sys.stderr.write(profile_files.save(given.output, content, remedy=kept))
    return ExitCode.OK


def _made(api: Api, given: argparse.Namespace) -> ShownProfile:
    """Ask for it, and wait until it is finished or cannot be made."""
    question: dict[str, object] = {"target": target(given.target, given.node)}
    if given.heap:
        question["measure"] = "heap"
    elif given.off_cpu:
        question |= {"measure": "off-cpu", "seconds": seconds(given.seconds)}
    else:
        question |= {"seconds": seconds(given.seconds), "hz": given.hz}
        if given.threads:
            # Left out otherwise: an older brain does not know it.
            question["threads"] = True
    profile = decode(api.post(PATH, question))
    begun, last = time.monotonic(), ""
    while profile.is_open:
        line = progress(profile, waited_s=time.monotonic() - begun)
        _say(line, last)
        last = line
        time.sleep(POLL_S)
        profile = decode(api.get(f"{PATH}/{profile.id}"))
    if last and sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")
    return profile


def _say(line: str, last: str) -> None:
    """On a terminal, show one line that changes; elsewhere, one line for each state."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{line}")
        sys.stderr.flush()
    elif line.rpartition(",")[0] != last.rpartition(",")[0]:
        sys.stderr.write(f"{line.rpartition(',')[0]}\n")


def _shown(api: Api, profile: ShownProfile, path: str) -> str:
    content = api.content(f"{path}/{profile.id}/pprof")
    try:
        if profile.measure == "heap":
            return heap_view(profile, pprof.decode_heap(content), signing_in=api.signing_in)
        if profile.measure == "off-cpu":
            return off_cpu_view(profile, pprof.decode_off_cpu(content), signing_in=api.signing_in)
        named = pprof.decode(content)
        shown = functions(named)
        return view(profile, shown, signing_in=api.signing_in, grade=named.grade)
    except pprof.MalformedProfileError as error:
        raise not_understood(f"no profile in it: {error}") from error
