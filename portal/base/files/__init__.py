"""Spreadsheets as streams of text rows: detect, read and write them. The meaning of columns is unknown here."""
