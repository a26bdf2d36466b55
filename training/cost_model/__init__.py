"""Cost models learned from the run times of one machine, and what they are worth on pipelines that they have not seen."""
