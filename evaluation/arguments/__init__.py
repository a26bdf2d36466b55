"""What may stand for an argument on the command line, and options that commands share."""
