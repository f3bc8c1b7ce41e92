import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import { nearest } from '../../core/base/nearest.ts'
import { isMissing } from '../../core/base/system-error.ts'
import type { PermissionRule } from '../../core/config/permissions.ts'
import type { PathGlob } from '../../core/config/rule-syntax.ts'
import type { Place } from '../../core/policy/path-pattern.ts'
import { parseRule } from '../../core/policy/pattern.ts'
import { type IdleRule, toIdleRule } from './idle-rule.ts'

/**
 * Finds rules whose path does not exist. Paths of the workspace are those of `place`, and are judged less strictly, since
 * every project has a workspace of its own: see docs/decisions/0167-idle-rules.md.
 */
export async function findIdlePathRules(rules: readonly PermissionRule[], place: Place): Promise<IdleRule[]> {
  return (await Promise.all(rules.map((rule) => judge(rule, place)))).flat()
}

async function judge(rule: PermissionRule, place: Place): Promise<IdleRule[]> {
  const form = parseRule(rule.pattern)
  if ((form.about !== 'read' && form.about !== 'edit') || form.path === undefined) return []
  const { path, about } = form
  const isRelative = path.start === ''
  if (isRelative && rule.for !== undefined) return [] // these classes work in folders of their own
  if (isRelative && rule.effect !== 'allow' && path.written.length < 2) return [] // a name in any folder: .env
  const root = isRelative ? place.workspace : path.start === '~' ? place.homeDir : path.start
  if (root === '') return []
  const missing = await findMissing(root, path)
  if (missing === undefined) return []
  const near = await nearSibling(missing)
  const isNewFile = about === 'edit' && path.glob === undefined && missing === resolve(root, ...path.base)
  const isForOthers = isRelative && (rule.effect !== 'allow' || path.glob !== undefined)
  if (near === undefined && (isNewFile || isForOthers)) return []
  const hint =
    near === undefined ? 'correct the path; the rule holds once it exists' : `did you mean ${near}?`
  return [toIdleRule(rule, `${missing} does not exist`, hint)]
}

/** The first part of the path without wildcards that does not exist; undefined when all of it does, or cannot be seen. */
async function findMissing(root: string, { base, written }: PathGlob): Promise<string | undefined> {
  if (!(await isAbsent(resolve(root, ...base)))) return undefined
  if (!(await isAbsent(resolve(root, ...written)))) return undefined // a name such as [id]
  for (let length = 1; length < base.length; length++) {
    const path = resolve(root, ...base.slice(0, length))
    if (await isAbsent(path)) return path
  }
  return resolve(root, ...base)
}

async function isAbsent(path: string): Promise<boolean> {
  return await stat(path).then(() => false, isMissing)
}

async function nearSibling(path: string): Promise<string | undefined> {
  const names = await readdir(dirname(path)).catch(() => []) // a folder that cannot be read has no suggestions
  return nearest(basename(path), names)
}
