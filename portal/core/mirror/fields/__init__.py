"""What the service says of members, guests and groups, field by field, each described once."""
