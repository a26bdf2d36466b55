"""Plans to learn from: what a teacher finds for generated pipelines, and the files that keep it."""
