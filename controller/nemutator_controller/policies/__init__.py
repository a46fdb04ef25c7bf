"""What platform teams want changed: MutationPolicy, which pods it is for, and the plan from it."""
