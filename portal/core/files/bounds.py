"""What an uploaded file may hold. Pages, readers and tests all take these bounds from here."""

MAX_ROWS = 100_000
MAX_COLUMNS = 100
MAX_FILE_BYTES = 32 * 1024 * 1024
# A cell longer than this is a broken file: every field of the service is far shorter, and spreadsheets stop here too.
MAX_CELL = 32_767

# XLSX is a ZIP archive; these are sizes after unpacking, checked in its directory before anything is unpacked.
MAX_PARTS = 2_000
MAX_SHEET_BYTES = 256 * 1024 * 1024
MAX_STRINGS_BYTES = 48 * 1024 * 1024
MAX_SMALL_PART_BYTES = 8 * 1024 * 1024
MAX_STRINGS = 1_000_000
# Rows beyond this many blank ones in a row are the spreadsheet's formatting, not data.
MAX_BLANK_RUN = 20_000

CHUNK_BYTES = 1024 * 1024
BATCH_ROWS = 1_000
