"""Profiles: asked for by people and pods, taken by agents, kept for a while, shown."""
