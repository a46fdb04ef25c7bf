"""What a profile is, and the formats in which people and tools read it."""
