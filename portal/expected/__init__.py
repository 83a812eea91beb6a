"""Lists of expected guests: a spreadsheet looked at row by row, then one code for each row, within the hour's calls."""
