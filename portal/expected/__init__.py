"""Lists of expected guests: a spreadsheet is checked row by row, then one code is issued for each row."""
