"""Long jobs: rows that are looked at first, sent by the thousand or one by one, and what came of each."""
