"""The code itself: drawn, on paper, as a file, and on the guest's own phone."""
