"""The Python interface of the access-control service: operations, resources, permissions, errors, client, OAuth.

This package imports no web framework. `operations` has the table of operations, `errors` the results of a failed call,
`client` makes calls, and `permissions` decides who has access where and when.
"""
