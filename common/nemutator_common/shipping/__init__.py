"""Ships numbered records to the brain: bounded, retried and resumable; producers never wait."""
