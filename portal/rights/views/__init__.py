"""Views of rights: the editor of one member, two members compared and copied, and templates."""
