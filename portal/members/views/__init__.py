"""Views of members: the list, a member's page, and credentials."""
