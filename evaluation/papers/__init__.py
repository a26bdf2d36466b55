"""Tables and figures of the papers, run again."""
