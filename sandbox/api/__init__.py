"""The operations of the specification, one handler each, routed from the table in `accessapi`."""
