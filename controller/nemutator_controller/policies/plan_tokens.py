"""Which tokens a plan has, and what they stand for in its object."""

from collections.abc import Callable, Sequence

from nemutator_controller.mutations import image, image_tokens
from nemutator_controller.mutations.edits import Draft
from nemutator_controller.mutations.known_tokens import NO_TOKENS, KnownTokens, Unresolved
from nemutator_controller.mutations.placeholder_references import replace_references
from nemutator_controller.mutations.placeholders import VARIABLES_VERB, replace_texts
from nemutator_controller.mutations.skips import Skips
from nemutator_controller.policies.model import Policy


def tokens_for(policies: Sequence[Policy], store: KnownTokens | None) -> KnownTokens | None:
    """Those of the store, and before them those of *policies*: the later name wins."""
    own = {key: value for policy in policies for key, value in policy.tokens.items()}
    if not own:
        return store
    bringing = {key: policy.name for policy in policies for key in policy.tokens}
    return (store or NO_TOKENS).below(own, bringing)


def images_replaced(draft: Draft, tokens: KnownTokens | None, skips: Skips) -> list[Unresolved]:
    """Before policies move or pin what comes out."""
    if tokens is None or image.VERB in skips.verbs:
        return []
    return image_tokens.replace_images(draft, tokens)


def texts_replaced(
    draft: Draft,
    *,
    tokens: KnownTokens | None,
    skipped: frozenset[str],
    kept: frozenset[str],
    unwanted: frozenset[str],
    inject: Callable[[Draft], object],
) -> list[Unresolved]:
    """Replace placeholders, those of policies, too; the result is those that stay."""
    if tokens is None:
        return []
    unresolved = replace_texts(draft, tokens, skipped=skipped, kept=kept, unwanted=unwanted)
    if VARIABLES_VERB not in skipped:
        unresolved += replace_references(draft, tokens, inject)
    return unresolved
