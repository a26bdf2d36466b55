"""The subcommands of `halidegym`, one file each."""
