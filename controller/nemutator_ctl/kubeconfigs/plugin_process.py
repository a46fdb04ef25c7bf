"""Runs the plugin of a kubeconfig (`exec`): a program of the person's own choice, with their rights."""

import json
import os
import subprocess
import sys
from pathlib import Path

from nemutator_ctl.kubeconfigs.model import (
    KubeServer,
    Plugin,
    PluginError,
    PluginStatus,
    plugin_question,
    plugin_status,
)

PLUGIN_S = 60.0
"""It may call a cloud; one that takes longer waits for somebody who is not there."""

LARGEST = 1 << 20


def answer_of(plugin: Plugin, server: KubeServer, folder: Path) -> PluginStatus:
    """Raises PluginError. What the plugin writes to standard error goes to the person."""
    interactive = (
        plugin.interactive_mode != "Never" and sys.stdin is not None and sys.stdin.isatty()
    )
    if plugin.interactive_mode == "Always" and not interactive:
        raise PluginError(f"its plugin {plugin.command} asks a person, and there is no terminal")
    question = plugin_question(plugin, server, interactive=interactive)
    environment = os.environ | {each.name: each.value for each in plugin.env or ()}
    command = plugin.command
    if os.sep in command:
        command = str(folder / command)
    try:
        ran = subprocess.run(  # noqa: S603 - a program that the person's own kubeconfig names
            [command, *(plugin.args or ())],
            env=environment | {"KUBERNETES_EXEC_INFO": json.dumps(question)},
            stdin=None if interactive else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            # Somebody who is asked something needs as long as they need.
            timeout=None if interactive else PLUGIN_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise PluginError(f"its plugin {plugin.command} did not answer in {PLUGIN_S:g} s") from None
    except OSError as error:
        hint = f" ({' '.join(plugin.install_hint.split())[:300]})" if plugin.install_hint else ""
        raise PluginError(
            f"its plugin {plugin.command} does not run: {error.strerror}{hint}"
        ) from error
    if ran.returncode or len(ran.stdout) > LARGEST:
        raise PluginError(f"its plugin {plugin.command} ended with exit code {ran.returncode}")
    return plugin_status(plugin, ran.stdout)
