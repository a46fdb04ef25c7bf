"""Who may call: how processes and people prove who they are, and what each may do."""
