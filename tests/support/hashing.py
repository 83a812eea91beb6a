"""A hasher with one iteration for the passwords of tests. Every process of the site can verify its hashes."""

from django.contrib.auth.hashers import PBKDF2PasswordHasher


class QuickHasher(PBKDF2PasswordHasher):
    iterations = 1
