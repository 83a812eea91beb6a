"""Intents: requests of staff to the service. Each is recorded, claimed, sent and followed to its outcome."""
