"""Training of policies, value functions and cost models."""
