"""Damaged files of every kind: none ends the process, and each that is refused is refused with an error of ours."""
