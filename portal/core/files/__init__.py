"""Spreadsheets as streams of rows of text: kept, recognised, read, written. Nothing here knows what columns mean."""
