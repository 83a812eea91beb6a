"""Reports: what happened and who may do what, on a page, as PDF and as XLSX, when asked and on a schedule."""
