"""What a run says: scores, statistics, tables, plots, and pages of them."""
