"""Fourier transforms: plans to choose, what they cost, and the environments about them."""
