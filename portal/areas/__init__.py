"""Areas: their doors, who may enter, who entered lately, and who shall."""
