"""The one way to run what can abort, hang or eat memory: in a process of its own."""
