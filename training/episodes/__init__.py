"""What recipes share whose policies learn from the rewards of their own episodes."""
