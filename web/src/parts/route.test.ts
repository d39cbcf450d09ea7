import { expect, test } from 'vitest'
import { archiveHref, routeOf, sessionHref } from './route.js'

test('every page has its path, and sessions, jobs, briefs and archives have one below it', () => {
  expect(routeOf('/')).toEqual({ page: 'overview' })
  expect(routeOf('/sessions/abc')).toEqual({ page: 'session', id: 'abc' })
  expect(routeOf('/jobs')).toEqual({ page: 'jobs', id: null })
  expect(routeOf('/briefs/brief_1/')).toEqual({ page: 'briefs', id: 'brief_1' })
  expect(routeOf('/archive/a1')).toEqual({ page: 'archive', id: 'a1' })
  expect([routeOf('/history').page, routeOf('/settings').page]).toEqual(['history', 'settings'])
})

test('an unknown path or one that cannot be decoded leads nowhere', () => {
  expect(['/x', '/sessions/a/b', '/history/1', '/jobs/%E0%A4%A'].map((path) => routeOf(path).page)).toEqual(
    Array(4).fill('nowhere'),
  )
})

test('an id in a link is read back unchanged', () => {
  expect(routeOf(sessionHref('a/b ü%'))).toEqual({ page: 'session', id: 'a/b ü%' })
  expect(archiveHref('x', 12)).toBe('/archive/x?line=12')
})
