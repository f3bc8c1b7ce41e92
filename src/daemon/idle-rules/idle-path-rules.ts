import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import { distance } from 'fastest-levenshtein'
import { nearest } from '../../core/base/nearest.ts'
import { isMissing } from '../../core/base/system-error.ts'
import type { PermissionRule } from '../../core/config/permissions.ts'
import type { PathGlob } from '../../core/config/rule-syntax.ts'
import type { PatternContext } from '../../core/policy/path-pattern.ts'
import { parseRule } from '../../core/policy/pattern.ts'
import { type IdleRule, toIdleRule } from './idle-rule.ts'

/**
 * Finds rules whose path does not exist. A relative path refers to the directory of each session, so that
 * only misspelled names of common files can be detected (ADR 0167).
 */
export async function findIdlePathRules(
  rules: readonly PermissionRule[],
  context: PatternContext,
): Promise<IdleRule[]> {
  return (await Promise.all(rules.map((rule) => judge(rule, context)))).flat()
}

async function judge(rule: PermissionRule, context: PatternContext): Promise<IdleRule[]> {
  const form = parseRule(rule.pattern)
  if ((form.about !== 'read' && form.about !== 'edit') || form.path === undefined) return []
  const { path, about } = form
  if (path.start === '') return await judgeRelative(rule, path, context)
  const root = path.start === '~' ? context.homeDir : path.start
  if (root === '') return []
  const missing = await findMissing(root, path)
  if (missing === undefined) return []
  const near = await nearSibling(missing)
  const isNewFile = about === 'edit' && path.glob === undefined && missing === resolve(root, ...path.base)
  if (near === undefined && isNewFile) return []
  const hint =
    near === undefined ? 'correct the path; the rule holds once it exists' : `did you mean ${near}?`
  return [toIdleRule(rule, `${missing} does not exist`, hint)]
}

/**
 * Judges a relative path by its hidden names, such as `.env`, when the working directory has no file of that
 * name.
 */
async function judgeRelative(
  rule: PermissionRule,
  path: PathGlob,
  { workspace }: PatternContext,
): Promise<IdleRule[]> {
  const name = path.written.find((one) => /^\.[a-z][\w.-]*$/i.test(one) && !COMMON_NAMES.includes(one))
  const near = name === undefined ? undefined : nearest(name, COMMON_NAMES)
  if (name === undefined || near === undefined || !isMisspelling(name, near)) return []
  if (!(await isAbsent(resolve(workspace, name)))) return []
  const { source, effect, pattern } = rule
  const message = `this ${effect} rule is about ${name}, which does not exist here: ${pattern}`
  return [{ source, message, hint: `did you mean ${near}?` }]
}

/** Whether the names differ by one letter, or by two exchanged letters. */
function isMisspelling(name: string, target: string): boolean {
  const sorted = (word: string) => [...word].toSorted().join('')
  return distance(name, target) === 1 || (distance(name, target) === 2 && sorted(name) === sorted(target))
}

/**
 * Returns the first part of the path without wildcards that does not exist; undefined when all of it exists,
 * or cannot be accessed.
 */
async function findMissing(root: string, { base, written }: PathGlob): Promise<string | undefined> {
  if (!(await isAbsent(resolve(root, ...base)))) return undefined
  if (!(await isAbsent(resolve(root, ...written)))) return undefined // a literal name such as [id]
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

/** Hidden files and folders that are common in projects: a name that is almost one of these is misspelled. */
const COMMON_NAMES: readonly string[] = [
  ...['.env', '.envs', '.envrc', '.venv', '.env.local', '.env.production', '.env.development', '.env.test'],
  ...['.git', '.github', '.gitlab', '.gitignore', '.gitmodules', '.gitattributes', '.gitlab-ci.yml', '.hg'],
  ...[
    '.npmrc',
    '.yarnrc',
    '.netrc',
    '.pypirc',
    '.ssh',
    '.aws',
    '.gnupg',
    '.kube',
    '.docker',
    '.dockerignore',
  ],
  ...['.vscode', '.idea', '.husky', '.terraform', '.direnv', '.cache', '.config', '.crabtalk', '.claude'],
]
