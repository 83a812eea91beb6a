"""A tenant's connection to the service: grant, use, reissue, revoke, and what the last calls said."""
