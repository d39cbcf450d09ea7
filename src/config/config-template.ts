/**
 * The file that `config init` writes: every key with its default or an example, commented out.
 * Lines that begin with `# ` explain; lines that begin with `#` without a space are keys.
 * A test uncomments the keys and loads the result.
 */
export const CONFIG_TEMPLATE = `# Configuration of Baton, for all projects. A project's baton.yaml wins over it.
# Everything here is commented out: the values are the defaults unless an example is announced.
# baton config check names whatever is wrong, baton config explain what applies to a session.

# false: Baton measures nothing and says nothing.
#enabled: true

# Ready-made levels: default, sm, mpm, tens, quiet. Combined from left to right.
#presets: [default]

# Levels of your own, as an example. The name of a preset's level changes that one.
# at: 70% (of the compaction point), 70% of window, 150k, 20k before compaction.
#levels:
#  - name: warning
#    at: 65%
#  - name: late
#    at: 8k before compaction
#    actions: [user, agent]
#    mode: urgent

# allow: the client compacts as it likes. instruct: its summariser is told what must survive.
#compaction: instruct

# Always given to the summariser, as an example.
#must_survive:
#  - The public API is frozen.

# A handoff is a brief and the change to a fresh session.
#handoff:
#  mode: auto # auto, ask, off
#  review_seconds: 0 # how long a brief waits for you before it is used
#  bar: 0.8 # the agent is asked once more for a brief that covers less
#  fork: false # true: a fork of the session may write the brief

# What keeps unattended handoffs from running away.
#guards:
#  min_new_tokens: 20000
#  max_unattended_per_hour: 6
#  cooldown_seconds: 60
#  breaker_after: 3

# Transcripts are kept before they are compacted. They are plain conversation, readable by you alone.
#archive:
#  enabled: true
#  at: [pre-compact, handoff, session-end]
#  keep_days: 90 # an example; without it they are kept without end
#  keep_bytes: 20000000000 # an example

# How you are told outside the client, as an example. via: bell, desktop, command, webhook, ntfy.
# on: level, review, permission, job, limit, silence; without it all of them.
#notify:
#  - via: ntfy
#    url: https://ntfy.sh/a-topic-only-you-know
#    on: [permission, review, job, limit]
#    at_most_every: 30s # of one kind

# Bounds of every job, as an example.
#budgets:
#  usd: 20
#  minutes: 480

# How many jobs run at once, as an example.
#limits:
#  jobs: 4

# For some sessions only, as an example. Every pattern under when must match; later overrides win.
#overrides:
#  - when: {project: ~/scratch/**}
#    presets: [quiet]
`
