from nemutator_agent.credentials.vault.login_proofs import AppRole, GivenToken
from nemutator_common.secret import Secret


def test_a_proof_never_shows_itself() -> None:
    app_role = AppRole(role_id=Secret("the-role"), secret_id=Secret("hunter2"))
    shown = f"{app_role} {app_role!r} {GivenToken(Secret('hvs.hunter2'))!r}"
    assert "hunter2" not in shown
    assert "the-role" not in shown
    assert app_role.wrapping_path == ""
