"""Long jobs on many members: rows, requests of up to 1,000 of them, and what came of each."""
