// Kills jobs at random moments whose agent never gives a brief and repeats every step that Baton's
// own brief does not list.
// node test/soak/jobs-without-briefs.mjs [--runs N] [--kills N] [--steps N] [--lanes N] [--seed N]
// [--runtime cli|sdk]
process.argv.splice(2, 0, '--briefs', 'never', '--runs', '10', '--kills', '5', '--lanes', '2')
await import('./jobs.mjs')
