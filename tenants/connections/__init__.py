"""A tenant's connection to the service: grant, use, reissue, revoke, and the results of the last calls."""
