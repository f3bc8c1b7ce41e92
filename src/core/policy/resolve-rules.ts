import { realpath } from 'node:fs/promises'
import { join, parse, relative, resolve, sep } from 'node:path'
import { type PatternContext, toPathGlob } from './path-pattern.ts'
import { resolvePath } from './paths.ts'
import { parseRule } from './pattern.ts'
import type { Rule } from './types.ts'

/**
 * Resolves the links on the paths of rules, since the paths of actions have none.
 *
 * Rules that deny or ask follow every link. Rules that allow follow only links in the root folder (`/tmp` on
 * macOS) and a link that is the user's home directory itself: any other link could have been created to make
 * the rule cover more.
 */
export async function resolveRules(rules: readonly Rule[], context: PatternContext): Promise<Rule[]> {
  return await Promise.all(rules.map((rule) => resolveRule(rule, context)))
}

async function resolveRule(rule: Rule, context: PatternContext): Promise<Rule> {
  const form = parseRule(rule.pattern)
  if ((form.about !== 'read' && form.about !== 'edit') || form.path === undefined) return rule
  const { about, path } = form
  if (path.start === '~' && context.homeDir === '') return rule
  const root = { '': context.workspace, '~': context.homeDir }[path.start] ?? path.start
  const writtenPath = resolve(root, ...path.base)
  const follow = rule.effect === 'allow' ? followTrusted : followAll
  // A path that cannot be followed has no links.
  const real = await follow(writtenPath, path.start, context).catch(() => writtenPath)
  if (real === writtenPath) return rule
  const rest = path.glob === undefined ? '' : `/${path.glob}`
  return { ...rule, resolved: `${about}(${toPathGlob(real)}${rest})` }
}

async function followAll(path: string, _: string, context: PatternContext): Promise<string> {
  return await resolvePath(path, context)
}

async function followTrusted(path: string, start: string, { homeDir }: PatternContext): Promise<string> {
  if (start === '') return path
  const { root } = parse(path)
  const [first = ''] = path.slice(root.length).split(sep)
  const trustedFolder = start === '~' ? homeDir : join(root, first)
  return join(await realpath(trustedFolder), relative(trustedFolder, path))
}
