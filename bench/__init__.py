"""Benchmarks of the site (`make bench`): ratios of two things measured in the same run on the same machine."""
