import type { Scenario } from '../build/day.js'

const FAILED = 'Failures: 1, Errors: 1, Skipped: 0, Time elapsed: 0.211 s <<< FAILURE!'
const RED = `[INFO] Running com.example.booking.OverlapTest
[ERROR] Tests run: 6, ${FAILED} -- in com.example.booking.OverlapTest
[ERROR] com.example.booking.OverlapTest.touchingBookingsDoNotOverlap -- Time elapsed: 0.014 s <<< FAILURE!
org.opentest4j.AssertionFailedError: expected: <false> but was: <true>
[ERROR] com.example.booking.OverlapTest.nullEnd -- Time elapsed: 0.003 s <<< ERROR!
java.lang.NullPointerException: Cannot invoke "java.time.Instant.isBefore(java.time.Instant)" because "end" is null
[INFO] Results:
[ERROR] Failures:
[ERROR]   OverlapTest.touchingBookingsDoNotOverlap:22 expected: <false> but was: <true>
[ERROR] Errors:
[ERROR]   OverlapTest.nullEnd:31 » NullPointer
[INFO] BUILD FAILURE`

export default {
  name: 'java-booking',
  about: 'a Java service with Maven: two failing tests, a subagent, hook texts after edits, a decision of the user',
  cwd: '/home/finn/booking',
  branch: 'overlap',
  start: '2026-11-02T14:30:00Z',
  day: (d) => {
    d.user(
      'Bookings that touch (10-11 and 11-12) are reported as overlapping. Fix Overlap.java. Whatever you do, leave ' +
        'the REST API untouched. No Lombok. Tests first, then the fix.',
    )
      .never('leave the REST API untouched')
      .never('No Lombok')
      .must('Tests first, then the fix')
    d.bash('mvn -q test', RED, {
      exit: 1,
      test: 'failed',
      fails: ['OverlapTest.touchingBookingsDoNotOverlap', 'OverlapTest.nullEnd'],
      error: 'java.lang.NullPointerException: Cannot invoke "java.time.Instant.isBefore(java.time.Instant)"',
    })
    d.delegate(
      'Find callers',
      'List every caller of Overlap.check. You must not change any file.',
      'Three callers: BookingService, Calendar, Import.\nNote: never call check() with a null start.',
    )
      .decoy('constraint', 'You must not change any file', 'said to a subagent')
      .decoy('constraint', 'never call check() with a null start', 'the report of a subagent')
    d.read(
      'src/main/java/com/example/booking/Overlap.java',
      'final class Overlap {\n  static boolean check(Span a, Span b) {\n' +
        '    return !a.end().isBefore(b.start()) && !b.end().isBefore(a.start());\n  }\n}\n',
    )
    d.edit(
      'src/main/java/com/example/booking/Overlap.java',
      '!a.end().isBefore(b.start()) && !b.end().isBefore(a.start())',
      'a.end().isAfter(b.start()) && b.end().isAfter(a.start())',
    )
    d.hook('PostToolUse:Edit', 'Formatter: you should always run spotless before you commit.').decoy(
      'constraint',
      'you should always run spotless before you commit',
      'added by a hook',
    )
    d.bash(
      'mvn -q test',
      RED.replace(/.*touching.*\n/g, '').replace('Failures: 1, Errors: 1', 'Failures: 0, Errors: 1'),
      {
        exit: 1,
        test: 'failed',
        fails: ['OverlapTest.nullEnd'],
        passes: ['OverlapTest.touchingBookingsDoNotOverlap'],
      },
    )
    d.ask(
      'A booking without an end: does it overlap everything after its start, or is it invalid?',
      ['Overlaps everything', 'Invalid'],
      'Invalid',
    )
    d.edit(
      'src/main/java/com/example/booking/Span.java',
      'record Span(Instant start, Instant end) {',
      'record Span(Instant start, Instant end) {\n  Span {\n    Objects.requireNonNull(end);\n  }',
      { say: 'Checked in the record rather than in Overlap, so that no caller can forget it.' },
    ).decides('Checked in the record rather than in Overlap, so that no caller can forget it')
    d.bash('mvn -q test', '', { test: 'passed', passes: ['OverlapTest.nullEnd'] })
    d.bash(
      'git commit -am "Touching bookings do not overlap" 2>&1 | tail -2',
      ' 2 files changed, 4 insertions(+), 1 deletion(-)',
      { commit: { subject: 'Touching bookings do not overlap' } },
    )
    d.say('Both tests pass and the change is committed.')
    d.user('Two more things. Does the import job use the same check? And who else writes spans without an end?')
      .wonders('Does the import job use the same check?', 'open')
      .wonders('who else writes spans without an end?', 'open')
    d.bash(
      'grep -rn "new Span(" src/main | head',
      'src/main/java/com/example/booking/Import.java:18:    new Span(start, null)',
    )
  },
} satisfies Scenario
