from pathlib import Path

import pytest
from nemutator_common.errors import OperatorError
from nemutator_ctl.secret.command import main


@pytest.mark.parametrize("verb_first", [True, False])
def test_options_may_stand_on_either_side_of_the_verb(verb_first: bool, tmp_path: Path) -> None:
    option = ["--data-dir", str(tmp_path)]
    with pytest.raises(OperatorError, match=f"no nemutator runs on {tmp_path}"):
        main(["list", *option] if verb_first else [*option, "list"])
