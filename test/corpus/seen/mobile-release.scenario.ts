import type { Scenario } from '../build/day.js'

export default {
  name: 'mobile-release',
  about: 'preparing a release of an app: a checklist in the prompt, rules given over several turns, one of them lifted',
  cwd: '/Users/dee/trailapp',
  branch: 'release/3.2',
  start: '2026-11-01T12:00:00Z',
  day: (d) => {
    d.user(`Prepare 3.2.0:
- [ ] bump the version
- [ ] update the changelog
- [ ] run the unit tests

Nothing may be tagged yet. Never edit the generated files in lib/gen.`)
      .never('Nothing may be tagged yet')
      .never('Never edit the generated files in lib/gen')
      .decoy('todo', 'bump the version', 'a list in a prompt is part of the request')
      .decoy('todo', 'run the unit tests', 'a list in a prompt is part of the request')
    d.read('pubspec.yaml', 'name: trailapp\nversion: 3.1.4+311\n')
    d.edit('pubspec.yaml', 'version: 3.1.4+311', 'version: 3.2.0+320')
    d.bash(
      'git log --oneline v3.1.4..HEAD',
      '77f01aa Show elevation on the map\n1c0de22 Cache tiles for a week\n4be12c7 Bump version',
    ).decoy('commit', 'Show elevation on the map', 'listed by git log')
    d.read('CHANGELOG.md', '# Changelog\n\n## 3.1.4\n\n- Fixes. You should never see a blank map again.\n').decoy(
      'constraint',
      'You should never see a blank map again',
      'text of a file',
    )
    d.edit(
      'CHANGELOG.md',
      '# Changelog\n',
      '# Changelog\n\n## 3.2.0\n\n- Elevation on the map\n- Tiles are cached for a week\n',
    )
    d.bash(
      './gradlew :android:testReleaseUnitTest',
      '> Task :android:testReleaseUnitTest FAILED\n\nTileCacheTest > evicts after a week FAILED\n' +
        '    org.junit.ComparisonFailure at TileCacheTest.kt:41\n\n27 tests completed, 1 failed\n\n' +
        'FAILURE: Build failed with an exception.',
      {
        exit: 1,
        test: 'failed',
        fails: ['TileCacheTest > evicts after a week'],
        error: 'org.junit.ComparisonFailure at TileCacheTest.kt:41',
      },
    )
    d.say(
      'Version and changelog are done. One unit test fails: the cache evicts after eight days, because the clock ' +
        'is rounded up. Shall I fix it in this release?',
    ).asks('Shall I fix it in this release?', 'answered')
    d.user(
      'yes fix it. from here on only bug fixes, no features. and please do not upgrade gradle, it broke CI last time',
    )
      .must('only bug fixes')
      .never('no features')
      .never('please do not upgrade gradle')
    d.read(
      'android/src/TileCache.kt',
      'class TileCache(private val clock: Clock) {\n' +
        '    fun expired(at: Instant) = Duration.between(at, clock.instant()).toDays() > 7\n}\n',
    )
    d.edit('android/src/TileCache.kt', '.toDays() > 7', '>= Duration.ofDays(7)')
    d.bash(
      './gradlew :android:testReleaseUnitTest',
      '> Task :android:testReleaseUnitTest\n\nBUILD SUCCESSFUL in 31s\n64 actionable tasks: 3 executed, 61 up-to-date',
      { test: 'passed', passes: ['TileCacheTest > evicts after a week'] },
    )
    d.bash(
      'git add pubspec.yaml CHANGELOG.md && git commit -m "Release 3.2.0" && git add android && git commit -m ' +
        '"Evict tiles after exactly a week"',
      '[release/3.2 aa10001] Release 3.2.0\n 2 files changed, 6 insertions(+), 1 deletion(-)\n' +
        '[release/3.2 aa10002] Evict tiles after exactly a week\n 1 file changed, 1 insertion(+), 1 deletion(-)',
      { commit: { id: 'aa10002', subject: 'Evict tiles after exactly a week' } },
    ).alsoCommitted('Release 3.2.0', 'aa10001')
    d.say('Both are committed, nothing is tagged.')
    d.user('great, you can tag it now: v3.2.0').withdrawn(
      'constraint',
      'Nothing may be tagged yet',
      'lifted by the user later',
    )
    d.bash(
      'git tag -a v3.2.0 -m "3.2.0" && git push origin release/3.2 v3.2.0',
      'To git.example.org:dee/trailapp.git\n * [new tag]         v3.2.0 -> v3.2.0\n' +
        '   90aa1fe..aa10002  release/3.2 -> release/3.2',
    )
    d.say('Tagged and pushed. Who uploads to the stores, you or the pipeline?').asks(
      'Who uploads to the stores, you or the pipeline?',
      'open',
    )
  },
} satisfies Scenario
