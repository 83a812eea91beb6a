"""Areas: their doors, the members with access, recent use, and changes of access."""
