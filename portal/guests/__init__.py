"""The reception desk: visits of today, codes in seconds, who is in the building."""
