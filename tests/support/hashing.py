"""Passwords of tests are hashed once, not a million times. Any process of the site verifies them all the same."""

from django.contrib.auth.hashers import PBKDF2PasswordHasher


class QuickHasher(PBKDF2PasswordHasher):
    iterations = 1
