import { rulesFor } from './class-rights.ts'
import { pathMatcher } from './path-pattern.ts'
import { parseRules } from './read-rules.ts'
import type { PolicyContext } from './types.ts'
import { allowsAll } from './verdict.ts'

/**
 * Returns a function that tests whether a search of a readable folder may show a file in it. The path is
 * absolute and without links.
 *
 * Permission to read a folder does not cover files below it that a rule denies or asks about.
 */
export function searchFilter(context: PolicyContext): (path: string) => boolean {
  const isAll = allowsAll(context)
  const restricting = parseRules(rulesFor(context.trust, context.rules)).filter(
    ({ rule: { effect } }) => effect === 'deny' || (effect === 'ask' && !isAll),
  )
  const tests = restricting.flatMap(({ forms }) =>
    forms.flatMap((form) => {
      const glob = form.about === 'read' ? form.path : undefined
      return glob === undefined ? [] : [pathMatcher(glob, context, { isGenerous: true })]
    }),
  )
  return (path) => !tests.some((covers) => covers(path))
}
