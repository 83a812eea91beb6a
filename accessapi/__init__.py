"""The access-control service's interface in Python: operations, resources, permissions, errors, client,
OAuth.

This package imports no web framework. Read `operations` for the table, `errors` for what a call can come to,
`client` for making one, `permissions` for who may pass where and when.
"""
