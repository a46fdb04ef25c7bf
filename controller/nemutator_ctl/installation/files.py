"""What this version can install, as it lies in this package; and files of values."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

from nemutator_common.errors import ExitCode, OperatorError
from nemutator_controller.yaml_documents import DocumentError, parsed

from nemutator_ctl.arguments import content
from nemutator_ctl.installation.shipped_manifests import ShippedManifests


def shipped() -> ShippedManifests:
    return ShippedManifests.decoded(
        json.loads(files("nemutator_ctl.installation").joinpath("shipped.json").read_bytes())
    )


def values_in(path: Path) -> dict[str, Any]:
    try:
        found = parsed(content(path))
    except DocumentError as error:
        raise _unusable(path, str(error)) from error
    if not found:
        return {}
    (first, *others) = found
    if others or not isinstance(first, dict):
        raise _unusable(path, "values are one table")
    return first


def _unusable(path: Path, why: str) -> OperatorError:
    return OperatorError(
        f"{path}: {why}", remedy="write it as the chart's values.yaml is", code=ExitCode.USAGE
    )
