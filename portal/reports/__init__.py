"""Reports about events and access rights, as a page, PDF and XLSX, on request and by schedule."""
