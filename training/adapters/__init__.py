"""What other libraries take: environments in their form, and policies; each file needs its library."""
