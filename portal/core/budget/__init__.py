"""720 and 180 calls an hour for each token, shared between doors, people, jobs and sync."""
