"""An adaptive library for discrete Fourier transforms: plans, and what they take."""
