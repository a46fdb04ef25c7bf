"""What `flame` and `diff` read: a file, or all CPU profiles of a workload that the brain keeps."""

import argparse
from itertools import islice
from pathlib import Path

from nemutator_common.profiles.sums import AnyProfile, summed

from nemutator_ctl import arguments, profile_files
from nemutator_ctl.stored_profiles import PATH, cpu_profiles

PREFIX = "workload:"

AT_ONCE = 20
"""Profiles of a workload that are held at once, before they are one."""


def read(source: str, given: argparse.Namespace) -> AnyProfile:
    """The profile that *source* names; *given* says which brain to ask. Raises NotAlikeError."""
    if not source.startswith(PREFIX):
        return profile_files.read(Path(source))
    path = arguments.of_cluster(given, PATH)
    left = cpu_profiles(arguments.brain(given), source.removeprefix(PREFIX), path=path)
    merged: AnyProfile = next(left)
    while some := list(islice(left, AT_ONCE)):
        merged = summed([merged, *some])
    return merged


def shown_name(source: str) -> str:
    return source.removeprefix(PREFIX) if source.startswith(PREFIX) else Path(source).name
