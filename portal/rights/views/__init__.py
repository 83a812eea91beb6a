"""Views of rights: the editor, comparing and copying, and templates."""
