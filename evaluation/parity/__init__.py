"""Our beam search held against the plugin's: results and effort."""
