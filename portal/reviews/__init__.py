"""Access reviews: reviewers confirm or withdraw rights to chosen areas. A signed report has the decisions."""
