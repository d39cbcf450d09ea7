import type { Fact } from '../contract/fact.js'
import { plain, withoutEnd } from './words.js'

/** Half the world has one: alone it says nothing about which is meant. */
const COMMON = /^(index|main|mod|lib|readme|package|init|types|utils?|tests?|config|setup|app|page|route|makefile|dockerfile)\b/

/** No path is longer. */
const LONGEST = 1_000

/** Which files a text names (given as `plain` makes it). */
export function makeMentions(whole: string, among: readonly Fact[]): { file(path: string): boolean } {
  const named = new Map<string, Set<string>>()
  for (const token of whole.split(/[\s()[\]{}<>,;|]+/)) {
    if (token.length > LONGEST) continue
    const path = withoutEnd(token.replace(/^[@(]*(\.\/)?/, ''), '.:!?').replace(/(?::\d[\d:-]*|#l?\d[\w-]*)$/, '')
    if (path !== '') named.set(lastOf(path), (named.get(lastOf(path)) ?? new Set()).add(path))
  }
  const bearers = new Map<string, number>()
  for (const { kind, text } of among) {
    const name = lastOf(plain(text))
    if (kind === 'file') bearers.set(name, (bearers.get(name) ?? 0) + 1)
  }
  return {
    file(text) {
      const path = plain(text)
      const name = lastOf(path)
      const telling = (bearers.get(name) ?? 0) < 2 && name.length > 4 && !COMMON.test(name)
      return [...(named.get(name) ?? [])].some(
        (mention) =>
          mention === path ||
          `/${mention}`.endsWith(`/${path}`) ||
          (`/${path}`.endsWith(`/${mention}`) && (mention !== name || telling)),
      )
    },
  }
}

const lastOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
