"""The sixteen applications of the papers, one file each."""
