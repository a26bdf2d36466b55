"""The C++ core, bound as `halidegym.native._core`."""
