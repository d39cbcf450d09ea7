import type { Scenario } from '../build/day.js'

export default {
  name: 'helpdesk-talk',
  about: 'a design talk with little code: questions in lists and in passing, some answered, rules given by the way',
  cwd: '/home/ned/helpdesk',
  branch: 'search',
  start: '2026-11-13T09:20:00Z',
  day: (d) => {
    d.user(
      "I'm thinking about full-text search for tickets. What are our options given that we run on SQLite?",
    ).wonders('What are our options given that we run on SQLite?', 'answered')
    d.bash('sqlite3 data/dev.db "pragma compile_options" | grep FTS', 'ENABLE_FTS3\nENABLE_FTS5')
    d.say(
      'FTS5 is compiled in, so there are two: FTS5 with triggers, or an external engine like Meilisearch. How many ' +
        'tickets do you expect within a year?',
    ).asks('How many tickets do you expect within a year?', 'answered')
    d.user(
      'roughly 200k. An external engine is out of the question, we have nobody to run it. Search must answer ' +
        "within 100 ms. Customer names shouldn't be indexed, that's a privacy thing.",
    )
      .never('An external engine is out of the question')
      .must('Search must answer within 100 ms')
      .never("Customer names shouldn't be indexed")
    d.say(`Then FTS5 it is: I prefer triggers over a nightly rebuild because agents expect new tickets to be \
found at once. Open points before I start:

- Which languages do the tickets come in?
- Should closed tickets be searchable?
- Is a prefix search enough or do you need typo tolerance?`)
      .decides('I prefer triggers over a nightly rebuild because agents expect new tickets to be found at once')
      .asks('Which languages do the tickets come in?', 'open')
      .asks('Should closed tickets be searchable?', 'answered')
      .asks('Is a prefix search enough or do you need typo tolerance?', 'open')
    d.user(
      'closed ones yes. let me get back to you on the rest. You can already write the migration, but you may not ' +
        'run it.',
    ).never('you may not run it')
    d.write(
      'migrations/012_search.sql',
      "create virtual table ticket_search using fts5(subject, body, content='tickets');\n" +
        '-- must be rebuilt after a restore\n',
    ).decoy('constraint', 'must be rebuilt after a restore', 'written by the agent')
    d.bash('sqlite3 :memory: ".read migrations/012_search.sql"', 'Error: near line 1: no such table: main.tickets', {
      exit: 1,
      error: 'no such table: main.tickets',
    })
    d.bash('cat schema.sql migrations/012_search.sql | sqlite3 :memory:', '', { looks: ['schema.sql'] })
    d.bash(
      'git add migrations/012_search.sql && git commit -m "Migration for ticket search"',
      '[search f7500aa] Migration for ticket search\n 1 file changed, 2 insertions(+)\n' +
        ' create mode 100644 migrations/012_search.sql',
      { commit: { id: 'f7500aa', subject: 'Migration for ticket search' } },
    )
    d.say('The migration is written and committed; I tried it on an empty schema in memory only, not on your data.')
    d.user('nice. hm, what would it cost us in disk space?').wonders('what would it cost us in disk space?', 'open')
    d.bash('du -h data/dev.db', '84M\tdata/dev.db')
  },
} satisfies Scenario
