import { expect, test } from 'vitest'
import type { ClientRegistry } from '../../agents/agent.js'
import { type BriefEvidence, doubtBrief } from './brief-origin.js'

/** Returns a registry that lists these processes with these sessions. */
const registryOf = (clients: Record<number, string>): ClientRegistry => ({
  sessionOf: (pid) => clients[pid] ?? null,
  clientsOf: (sessionId) =>
    Object.keys(clients)
      .map(Number)
      .filter((pid) => clients[pid] === sessionId),
})
const CLIENT = 10
const kept = registryOf({ [CLIENT]: 's', 11: 'another' })
const ended = registryOf({ 11: 'another' })

const isBelieved = (change: Partial<BriefEvidence>): boolean =>
  doubtBrief({
    origin: 'own-process',
    sessionId: 's',
    namedPid: CLIENT,
    isNamedOwn: true,
    registry: kept,
    ancestors: () => [],
    ...change,
  }) === null

test.each<[string, Partial<BriefEvidence>, boolean]>([
  ['token, the listed client', { origin: 'token' }, true],
  ['token, no process', { origin: 'token', namedPid: null, isNamedOwn: false }, true],
  ['token, the client of another session', { origin: 'token', namedPid: 11 }, false],
  ['token, a process that is not listed', { origin: 'token', namedPid: 12 }, false],
  ['token, no registry, a process of this user', { origin: 'token', namedPid: 12, registry: null }, true],
  ['token, no registry, another user', { origin: 'token', namedPid: 12, registry: null, isNamedOwn: false }, false],
  ['hook below the client', { origin: 'hook', ancestors: () => [99, CLIENT, 5] }, true],
  ['hook below another client', { origin: 'hook', ancestors: () => [99, 11, 5] }, false],
  ['hook below no client', { origin: 'hook', ancestors: () => [99, 5] }, false],
  ['hook, the client has ended', { origin: 'hook', registry: ended, ancestors: () => [99, 5] }, false],
  ['hook, no registry', { origin: 'hook', registry: null }, true],
  ['spool, the listed client', {}, true],
  ['spool, no process while a client shows the session', { namedPid: null }, false],
  ['spool, another process while a client shows the session', { namedPid: 12 }, false],
  ['spool, the client of another session', { namedPid: 11 }, false],
  ['spool, a process that is gone, and no client shows the session', { registry: ended }, true],
  ['spool, the client went on to another session', { registry: ended, namedPid: 11 }, false],
  ['spool, no process, and no client shows the session', { registry: ended, namedPid: null }, true],
  ['spool, no registry', { registry: null, namedPid: 12 }, true],
])('an answer is believed only if it comes from the session’s client: %s', (_, evidence, isTaken) => {
  expect(isBelieved(evidence)).toBe(isTaken)
})
