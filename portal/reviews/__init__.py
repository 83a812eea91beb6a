"""Access reviews: reviewers confirm or withdraw rights to chosen areas, and a signed report says who did."""
