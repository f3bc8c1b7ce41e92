import type { JsonObject } from '../base/message.ts'
import { isTable } from '../config/schema.ts'
import type { ValidationIssue } from '../config/validation-issue.ts'
import { type Cron, parseCronEntry } from './cron-entry.ts'

/** The maximum number of entries in a home. */
export const MAX_CRONS = 1000

/** The parsed config/crons.toml: the entries that can fire, and the problems of the others. */
export interface ParsedCrons {
  crons: readonly Cron[]
  findings: readonly ValidationIssue[]
}

/**
 * Validates each entry of the file separately: an invalid one does not keep the others from firing (ADR
 * 0138).
 */
export function readCrons(table: JsonObject): ParsedCrons {
  const { cron: list = [], ...others } = table
  const findings: ValidationIssue[] = Object.keys(others).map((key) => ({
    path: [key],
    message: `unknown key "${key}"`,
  }))
  const tables = toTables(list)
  if (!tables) {
    const message = '"cron" must be tables'
    return {
      crons: [],
      findings: [...findings, { path: ['cron'], message, hint: 'begin each entry with [[cron]]' }],
    }
  }
  const crons = new Map<number, Cron>()
  for (const [index, one] of tables.entries()) {
    const read = index < MAX_CRONS ? parseCronEntry(one) : { cron: undefined, findings: [TOO_MANY] }
    const isTaken = read.cron !== undefined && crons.has(read.cron.entry.id)
    if (read.cron && !isTaken) crons.set(read.cron.entry.id, read.cron)
    const more = isTaken ? [TAKEN] : read.findings.map((finding) => withFreeId(finding, tables))
    findings.push(...more.map((finding) => ({ ...finding, path: ['cron', index, ...finding.path] })))
  }
  return { crons: [...crons.values()], findings }
}

/** Returns the tables of a list; undefined when it is not a list of tables. */
export function toTables(list: unknown): JsonObject[] | undefined {
  return Array.isArray(list) && list.every(isTable) ? (list as JsonObject[]) : undefined
}

/** Returns an id above those of all tables, at least `least`. */
export function freeId(tables: readonly JsonObject[], least = 1): number {
  return tables.reduce((next, { id }) => {
    return typeof id === 'number' && Number.isSafeInteger(id) && id >= next ? id + 1 : next
  }, least)
}

function withFreeId(finding: ValidationIssue, tables: readonly JsonObject[]): ValidationIssue {
  const isMissing = finding.path[0] === 'id' && finding.message.endsWith('is missing')
  return isMissing ? { ...finding, hint: `id = ${freeId(tables)} is free` } : finding
}

const TAKEN: ValidationIssue = {
  path: ['id'],
  message: '"id" is already used by another entry',
  hint: 'give each entry its own id',
}
const TOO_MANY: ValidationIssue = { path: [], message: `there are more than ${MAX_CRONS} entries, the limit` }
