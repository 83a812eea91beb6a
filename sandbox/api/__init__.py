"""The operations of the specification, one handler each, routed from accessapi's table."""
