/**
 * The file that `config init` writes: every key with its default or an example, commented out.
 * Lines that begin with `# ` explain; lines that begin with `#` without a space are keys.
 * A test uncomments the keys and loads the result.
 */
export const CONFIG_TEMPLATE = `# Configuration of Baton for all projects. A project's baton.yaml overrides it.
# Every key is commented out. Values are the defaults, except where a comment says "example".
# Run "baton config check" to list mistakes and "baton config explain" to see what applies to a session.

# false: Baton still measures, but sends no messages and hands nothing over.
#enabled: true

# Ready-made levels: default, full-window (default without the token limits of large windows), sm, mpm,
# tens, quiet. Later presets override earlier ones.
#presets: [default]

# Your own levels (example). An entry with the name of a preset's level changes that level.
# at: 70% (of the compaction point), 70% of window, 150k, 20k before compaction, or two of them, such
# as 85% or 300k, of which the first counts.
#levels:
#  - name: warning
#    at: 65%
#  - name: late
#    at: 8k before compaction
#    actions: [user, agent]
#    mode: urgent

# allow: the client compacts as usual. instruct: its summariser is told what the summary must keep.
# block-and-hand-off: a compaction is blocked where a handoff can replace it.
#compaction: instruct

# Statements that every summary must keep (example).
#must_survive:
#  - The public API is frozen.

# A handoff: the agent writes a brief, and a fresh session continues with it.
#handoff:
#  mode: auto # auto, ask, off
#  large_window: ask # auto: hand off also where 300k tokens come before 85% of the compaction point
#  review_seconds: 0 # how long a brief waits for your review before it is used
#  bar: 0.8 # coverage below which the agent is asked for a better brief, once
#  fork: false # true: a copy of the session may write the brief

# Limits of unattended handoffs.
#guards:
#  min_new_tokens: 20000
#  max_unattended_per_hour: 6
#  cooldown_seconds: 60
#  breaker_after: 3

# Transcripts are archived before they are compacted. Archives are plain text that only you can read.
#archive:
#  enabled: true
#  at: [pre-compact, handoff, session-end]
#  keep_days: 90 # example; without it, archives are kept forever
#  keep_bytes: 20000000000 # example

# Notices outside the client (example). via: bell, desktop, command, webhook, ntfy.
# on: level, review, permission, job, limit, silence. Without "on", every event.
#notify:
#  - via: ntfy
#    url: https://ntfy.sh/a-topic-only-you-know
#    on: [permission, review, job, limit]
#    at_most_every: 30s # per kind of event

# Limits of every job (example).
#budgets:
#  usd: 20
#  minutes: 480

# How many jobs may run at the same time (example).
#limits:
#  jobs: 4

# Settings for some sessions (example). All patterns under "when" must match; later overrides win.
#overrides:
#  - when: {project: ~/scratch/**}
#    presets: [quiet]
`
