"""Views of members: the list and a member's page, and what a member opens doors and key boxes with."""
