"""Tokens of an `auth-provider`, by the `kubernetes` package: the one file that imports it, and only then.

kubectl itself has none of these since 1.26, but kubeconfigs of before still have them (OpenID Connect with a
refresh token). The package knows them. Importing it takes a second and more, and 60 MB; everything else of a
kubeconfig is read in `model.py`.
"""

import logging
from typing import Any

from nemutator_common.secret import Secret

from nemutator_ctl.kubeconfigs.model import KubeconfigError


def token_of_provider(path: str, context: str) -> Secret:
    """What the package makes of *context* in the files of *path*; raises KubeconfigError."""
    try:
        from kubernetes.client import Configuration
        from kubernetes.config import ConfigException
        from kubernetes.config.kube_config import KubeConfigLoader, KubeConfigMerger
    except ImportError as error:
        raise KubeconfigError(
            "its user has an auth-provider, which only the package `kubernetes` knows:"
            " install nemutator[cluster]"
        ) from error
    # The package only logs that a refresh failed, and goes on without credentials.
    complaints = _Complaints()
    logging.getLogger().addHandler(complaints)
    configuration: Any = Configuration()
    merge: Any = KubeConfigMerger  # untyped
    load: Any = KubeConfigLoader
    try:
        merged = merge(path).config
        load(
            config_dict=merged, active_context=context or None, config_base_path=None
        ).load_and_set(configuration)
    except (ConfigException, OSError) as error:
        raise KubeconfigError(str(error)[:300]) from error
    except Exception as error:  # noqa: BLE001 - see below
        # Whatever it trips over is in the file, and its message may quote a secret from there.
        raise KubeconfigError(f"its auth-provider is of no use ({type(error).__name__})") from None
    finally:
        logging.getLogger().removeHandler(complaints)
    if complaints.said:
        raise KubeconfigError("; ".join(complaints.said)[:300])
    keys = configuration.api_key
    bearer = str(keys.get("BearerToken") or keys.get("authorization") or "")
    if not bearer.startswith("Bearer "):
        raise KubeconfigError("its auth-provider has no token")
    return Secret(bearer.removeprefix("Bearer "))


class _Complaints(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(record.getMessage())
