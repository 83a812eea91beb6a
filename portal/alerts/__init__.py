"""The pages of alerts and their rules."""
