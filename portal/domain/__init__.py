"""The field: access control as all areas of work use it. It has fragments of pages, no whole pages."""
