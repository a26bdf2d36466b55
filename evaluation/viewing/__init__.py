"""Searches and episodes as people look at them: games in the terminal, pages for a browser."""
