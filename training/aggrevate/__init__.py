"""AggreVaTe: a policy learns, where its own schedules come to, what each decision is worth (Ross and Bagnell 2014)."""
