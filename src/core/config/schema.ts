import * as z from 'zod/mini'
import { isHeaderValue, NOT_A_HEADER_VALUE } from '../base/header-value.ts'
import { didYouMean } from '../base/nearest.ts'
import { parseHttpUrl } from '../base/server-address.ts'
import { formatPath, type KeyPath, type Result, type ValidationIssue } from './validation-issue.ts'

/** A table schema that refuses unknown keys and suggests the nearest known one, or lists all. */
export function strictTable<T extends z.core.$ZodLooseShape>(shape: T): z.ZodMiniObject<T, z.core.$strict> {
  const knownKeys = Object.keys(shape).join(' ')
  // The issue carries the known keys in its message, where describe() looks up the nearest one.
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? knownKeys : undefined),
  })
}

/** A schema for non-empty text. */
export function filledString(): z.ZodMiniString {
  return z.string().check(z.minLength(1))
}

/** A schema for a key that is sent in an HTTP header. Surrounding white space is trimmed before sending. */
export function headerKey(): z.ZodMiniString {
  return filledString().check(z.refine((text) => isHeaderValue(text.trim()), NOT_A_HEADER_VALUE))
}

/** A schema for an integer within bounds, both inclusive. */
export function wholeNumber(minimum: number, maximum = Number.MAX_SAFE_INTEGER): z.ZodMiniNumberFormat {
  return z.int().check(z.minimum(minimum), z.maximum(maximum))
}

/** A schema for a duration in milliseconds that a timer can hold. */
export function milliseconds(): z.ZodMiniNumberFormat {
  return wholeNumber(1, 2 ** 31 - 1)
}

/** A schema for the name of an environment variable. */
export function variableName(): z.ZodMiniString {
  return z.string().check(z.regex(/^[^=\0]+$/, 'is not a possible variable name'))
}

/** A schema for an HTTP or HTTPS URL. */
export function httpAddress(): z.ZodMiniString {
  return z
    .string()
    .check(z.refine((text) => parseHttpUrl(text) !== undefined, 'must be an http:// or https:// address'))
}

/** A problem with one key of a table. */
export interface TableIssue {
  /** The path relative to the table. */
  path: KeyPath
  /** The problem, as the end of a sentence that begins with the key. */
  predicate: string
  hint?: string
}

/**
 * A check across several keys of a table. It runs even when single keys are invalid, so it must check every
 * type.
 *
 * `isMisspelt` is true when the table has unknown keys, one of which may be a misspelling of a missing key.
 */
export function tableCheck(
  find: (table: Record<string, unknown>, isMisspelt: boolean) => Iterable<TableIssue>,
): z.core.$ZodCheck<Record<string, unknown>> {
  return z.superRefine(
    (table, context) => {
      const isMisspelt = context.issues.some(
        ({ code, path }) => code === 'unrecognized_keys' && !path?.length,
      )
      for (const { path, predicate, hint } of find(table, isMisspelt)) {
        context.addIssue({ code: 'custom', path: [...path], message: predicate, params: { hint } })
      }
    },
    { when: ({ value }) => isTable(value) },
  )
}

/** Validates a value against a schema and describes every issue for the user. */
export function checkValue<T extends z.ZodMiniType>(
  schema: T,
  value: unknown,
): Result<z.output<T>, ValidationIssue> {
  const result = z.safeParse(schema, value)
  if (result.success) return { ok: true, value: result.data }
  return { ok: false, problems: result.error.issues.flatMap((issue) => describe(issue, value)) }
}

/** Whether a value is a table: an object that is neither an array nor a date. */
export function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
}

function describe(issue: z.core.$ZodIssue, root: unknown): ValidationIssue[] {
  const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)))
  const toIssue = (predicate: string): ValidationIssue => ({ path, message: `${quote(path)} ${predicate}` })
  const value = valueAt(root, path)
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => unknownKey([...path, key], issue.message.split(' ').filter(Boolean)))
    case 'invalid_type':
      if (value === undefined) return [toIssue('is missing')]
      return [toIssue(`must be ${EXPECTED[issue.expected] ?? issue.expected}, not ${describeKind(value)}`)]
    case 'invalid_value':
      return [
        { ...toIssue(`must be one of ${issue.values.join(', ')}`), ...suggestValue(value, issue.values) },
      ]
    case 'too_small':
      return [toIssue(issue.origin === 'number' ? `must be at least ${issue.minimum}` : 'must not be empty')]
    case 'too_big':
      return [toIssue(`must be at most ${issue.maximum}`)]
    case 'invalid_union':
      return describeUnion(issue, root)
    case 'invalid_key':
      return [toIssue(issue.issues[0]?.message ?? 'is not a possible key')]
    case 'custom':
      return [{ ...toIssue(issue.message), ...toHint(issue.params) }]
    default:
      return [toIssue(issue.message)]
  }
}

/** Describes the issues of the only variant that fits the value's type; otherwise lists the variants. */
function describeUnion(issue: z.core.$ZodIssueInvalidUnion, root: unknown): ValidationIssue[] {
  const fits = issue.errors.filter((issues) => !issues.some((one) => isWrongAtRoot(one)))
  const [form, ...others] = fits
  if (form !== undefined && others.length === 0) {
    return form.flatMap((inner) => describe({ ...inner, path: [...issue.path, ...inner.path] }, root))
  }
  const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)))
  const forms = issue.errors.flatMap((issues) => issues.filter(isWrongAtRoot).map(describeExpected))
  return [
    {
      path,
      message: `${quote(path)} must be ${forms.join(' or ')}, not ${describeKind(valueAt(root, path))}`,
    },
  ]
}

function isWrongAtRoot(issue: z.core.$ZodIssue): boolean {
  return issue.code === 'invalid_type' && issue.path.length === 0
}

function describeExpected(issue: z.core.$ZodIssue): string {
  return issue.code === 'invalid_type' ? (EXPECTED[issue.expected] ?? issue.expected) : 'something else'
}

function unknownKey(path: KeyPath, knownKeys: readonly string[]): ValidationIssue {
  const known = knownKeys.length === 0 ? undefined : `the keys are ${knownKeys.toSorted().join(', ')}`
  const hint = didYouMean(String(path.at(-1)), knownKeys) ?? known
  const message = `unknown key ${quote(path)}`
  return hint === undefined ? { path, message } : { path, message, hint }
}

function suggestValue(value: unknown, values: readonly unknown[]): { hint?: string } {
  const hint = typeof value === 'string' ? didYouMean(value, values.map(String)) : undefined
  return hint === undefined ? {} : { hint }
}

function toHint(params: Record<string, unknown> | undefined): { hint?: string } {
  const hint = params?.['hint']
  return typeof hint === 'string' ? { hint } : {}
}

function quote(path: KeyPath): string {
  return path.length === 0 ? 'the configuration' : `"${formatPath(path)}"`
}

function valueAt(root: unknown, path: KeyPath): unknown {
  return path.reduce<unknown>((value, part) => {
    if (Array.isArray(value)) return value[Number(part)]
    return isTable(value) && Object.hasOwn(value, part) ? value[part] : undefined
  }, root)
}

function describeKind(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (value instanceof Date) return 'a date'
  if (value === null) return 'null'
  if (isTable(value)) return 'a table'
  return `a ${typeof value}`
}

const EXPECTED: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a table',
  record: 'a table',
}
