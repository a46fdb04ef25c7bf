"""What policies may read beside themselves: tokens and registries."""

from dataclasses import dataclass

from nemutator_common.settings import between, setting

from nemutator_controller.setting_checks import redis_url


@dataclass(frozen=True, kw_only=True)
class MutationSettings:
    tokens_file: str = setting(
        "",
        "JSON file with tokens for placeholders; empty: off clusters `tokens.json` in the data directory,"
        " in a cluster none.",
    )
    tokens_redis: str = setting(
        "",
        "Redis with tokens for placeholders, as `redis://HOST:6379/0`, or `rediss://` for TLS; it counts"
        " in place of `tokens_file`.",
        check=redis_url,
    )
    tokens_redis_user: str = setting("", "User of Redis; empty: the default one.")
    tokens_redis_password_file: str = setting(
        "", "File with the password for Redis; it is read anew for each connection. Empty: none."
    )
    tokens_redis_ca: str = setting(
        "", "PEM file with the authority of Redis' certificate; empty: those of this machine."
    )
    image_registries: str = setting(
        "",
        "Registries in which the brain may look up what an image starts, with commas between, like"
        " `docker.io, registry.example:5000`, so that containers without a `command` get their pod's"
        " variables, and which digest a tag names, so that policies can pin it; with `http://` before one that speaks plain HTTP. Empty: none is asked.",
    )
    image_registry_ca: str = setting(
        "",
        "PEM file with authorities of registries' certificates, beside those of the system.",
    )
    image_pull_secret_file: str = setting(
        "",
        "File with passwords for those registries, as `imagePullSecrets` and Docker have them"
        " (`.dockerconfigjson`); read each minute. Empty: only what everybody may pull is read.",
    )
    image_refresh_s: float = setting(
        900.0,
        "Seconds after which the image of a tag is looked at again.",
        check=between(30, 7 * 86_400),
    )
