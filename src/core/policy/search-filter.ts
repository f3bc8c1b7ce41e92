import { rulesFor } from './class-rights.ts'
import { pathMatcher } from './path-pattern.ts'
import { parseRules } from './read-rules.ts'
import type { PolicyContext } from './types.ts'
import { allowsAll } from './verdict.ts'

/**
 * Makes a test of whether a search of a folder that may be read may show a file in it: absolute, without links.
 *
 * Permission to read a folder is none for what a rule below it denies or wants to be asked about.
 */
export function searchFilter(setting: PolicyContext): (path: string) => boolean {
  const isAll = allowsAll(setting)
  const restricting = parseRules(rulesFor(setting.trust, setting.rules)).filter(
    ({ rule: { effect } }) => effect === 'deny' || (effect === 'ask' && !isAll),
  )
  const tests = restricting.flatMap(({ forms }) =>
    forms.flatMap((form) => {
      const glob = form.about === 'read' ? form.path : undefined
      return glob === undefined ? [] : [pathMatcher(glob, setting, { isGenerous: true })]
    }),
  )
  return (path) => !tests.some((covers) => covers(path))
}
