"""Labels and annotations of pods that run follow policies and tokens, where a policy says `applyTo: live`."""
