"""The OAuth endpoints and the member site's pages for signing in and consenting."""
