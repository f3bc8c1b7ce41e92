import { realpath } from 'node:fs/promises'
import { join, parse, relative, resolve, sep } from 'node:path'
import { type PatternContext, toPathGlob } from './path-pattern.ts'
import { resolvePath } from './paths.ts'
import { parseRule } from './pattern.ts'
import type { Rule } from './types.ts'

/**
 * Rules whose paths have no links on them, as the paths of actions have none.
 *
 * What denies or asks follows every link. What allows follows only those in the root folder (`/tmp` on macOS) and the one
 * that the person's directory may be: any other could have been put there to make the rule mean more.
 */
export async function resolveRules(rules: readonly Rule[], place: PatternContext): Promise<Rule[]> {
  return await Promise.all(rules.map((rule) => resolveRule(rule, place)))
}

async function resolveRule(rule: Rule, place: PatternContext): Promise<Rule> {
  const form = parseRule(rule.pattern)
  if ((form.about !== 'read' && form.about !== 'edit') || form.path === undefined) return rule
  const { about, path } = form
  if (path.start === '~' && place.homeDir === '') return rule
  const root = { '': place.workspace, '~': place.homeDir }[path.start] ?? path.start
  const written = resolve(root, ...path.base)
  const follow = rule.effect === 'allow' ? followTrusted : followAll
  const real = await follow(written, path.start, place).catch(() => written) // what cannot be followed has no links
  if (real === written) return rule
  const rest = path.glob === undefined ? '' : `/${path.glob}`
  return { ...rule, resolved: `${about}(${toPathGlob(real)}${rest})` }
}

async function followAll(path: string, _: string, place: PatternContext): Promise<string> {
  return await resolvePath(path, place)
}

async function followTrusted(path: string, start: string, { homeDir }: PatternContext): Promise<string> {
  if (start === '') return path
  const { root } = parse(path)
  const [first = ''] = path.slice(root.length).split(sep)
  const trusted = start === '~' ? homeDir : join(root, first)
  return join(await realpath(trusted), relative(trusted, path))
}
