"""How results are shown and written: tables, plots, progress."""
