"""Guest codes: on screen, on paper, as a file, and by link on the guest's own phone."""
