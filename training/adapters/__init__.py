"""Environments as other libraries take them; each file needs its library."""
