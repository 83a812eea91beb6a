"""Everything staff ask the service to do: recorded, claimed, sent, and followed to its outcome."""
