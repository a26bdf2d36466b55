"""Expert iteration: a policy's own best schedules, improved by search, become what it learns next."""
