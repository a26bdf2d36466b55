"""Cost models that learn from measured schedules: the published network, its training step, and tuning it to a machine.

What needs torch imports it when it is imported itself: import these modules where they are used.
"""
