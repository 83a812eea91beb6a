"""What members may enter and take: drawn as a week, edited, kept as templates, compared."""
