"""`make bench`: how fast the site is, as ratios of two things measured in the same run on the same machine."""
