"""Access rights as text, as weeks, as sheets to edit, and as templates."""
