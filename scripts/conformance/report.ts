import type { Outcome, Requirement } from './suite.ts'

/** A requirement with its outcome, and the reason from the baseline if it is expected to fail. */
export interface Result {
  requirement: Requirement
  outcome: Outcome
  reason: string | undefined
}

/** Whether the outcome matches the baseline. */
export function isAsExpected({ outcome, reason }: Result): boolean {
  return hasPassed(outcome) === (reason === undefined)
}

/** Renders the table, the unexpected outcomes, and the totals of each revision. */
export function toReport(results: readonly Result[]): string {
  const rows = results.map(({ requirement: { revision, scenario }, ...what }) => [
    scenario,
    revision,
    verdict(what),
  ])
  const surprises = results.filter((result) => !isAsExpected(result)).flatMap(explain)
  return [...align([['scenario', 'revision', 'result'], ...rows]), ...surprises, toSum(results)].join('\n')
}

function verdict({ outcome, reason }: Omit<Result, 'requirement'>): string {
  const count = `${outcome.passed} check${outcome.passed === 1 ? '' : 's'}`
  if (hasPassed(outcome))
    return reason === undefined ? `passed, ${count}` : 'passed, but is listed as failing'
  return reason === undefined
    ? `failed, ${outcome.problems.length} of its checks`
    : `failed, as expected: ${reason}`
}

function explain({ requirement: { revision, scenario }, outcome }: Result): string[] {
  if (hasPassed(outcome))
    return ['', `${scenario} (${revision}) passes: take it off the list of what does not.`]
  return ['', `${scenario} (${revision}):`, ...outcome.problems.map(({ words }) => `  ${words}`)]
}

function toSum(results: readonly Result[]): string {
  const revisions = new Set(results.map(({ requirement: { revision } }) => revision))
  const sums = Array.from(revisions, (one) => {
    const all = results.filter(({ requirement: { revision } }) => revision === one)
    return `${one} ${all.filter(({ outcome }) => hasPassed(outcome)).length}/${all.length}`
  })
  return `conformance: ${sums.join(', ')}`
}

function hasPassed({ problems }: Outcome): boolean {
  return problems.length === 0
}

function align(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at]!))
      .join('   ')
      .trimEnd(),
  )
}
