import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openProcessHost } from '../src/core/process/process-host.ts'
import { readBaseline } from './conformance/baseline.ts'
import { isAsExpected, type Result, toReport } from './conformance/report.ts'
import { type Outcome, openSuite, type Requirement, type Suite } from './conformance/suite.ts'

// Runs the official MCP conformance suite against our client, every scenario that a revision requires of clients:
//   npm run conformance -- [SCENARIO…] [--client COMMAND] [--baseline FILE]
// It fails when a scenario outside the baseline fails, or one in the baseline passes.
const HERE = import.meta.dirname
const REVISIONS = ['2025-11-25', '2026-07-28']
const MAX_PARALLEL = 2
/**
 * The checks that depend on the client's timing. When one fails, perhaps because the machine was busy, its
 * scenario is repeated alone.
 */
const TIMED = new Set(['client-sse-retry-timing'])
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    client: {
      type: 'string',
      default: `"${process.execPath}" "${join(HERE, '../test/conformance/client.ts')}"`,
    },
    baseline: { type: 'string', default: join(HERE, '../test/conformance/baseline.toml') },
  },
})
process.exitCode = await main().catch((reason: unknown) => {
  console.error(`Cannot run the conformance suite: ${reason instanceof Error ? reason.message : reason}`)
  return 1
})

async function main(): Promise<number> {
  await using processes = openProcessHost({ pid: process.pid })
  await using suite = await openSuite(processes)
  const demanded = (await Promise.all(REVISIONS.map((one) => suite.requirements(one)))).flat()
  const baseline = await readBaseline(values.baseline, demanded)
  const selected = demanded.filter(
    ({ scenario }) => positionals.length === 0 || positionals.includes(scenario),
  )
  const unknown = positionals.find((name) => selected.every(({ scenario }) => scenario !== name))
  if (unknown !== undefined) throw new Error(`no revision demands the scenario ${unknown}`)
  const outcomes = await runAll(suite, selected)
  const results = selected.map((requirement, at): Result => {
    return { requirement, outcome: outcomes[at]!, reason: baseline.reasonFor(requirement) }
  })
  console.log(toReport(results))
  return results.every(isAsExpected) ? 0 : 1
}

async function runAll(suite: Suite, requirements: readonly Requirement[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  const queue = requirements.entries()
  const work = async () => {
    for (const [at, one] of queue) outcomes[at] = await suite.run(one, values.client)
  }
  await Promise.all(Array.from({ length: MAX_PARALLEL }, work))
  for (const [at, { problems }] of outcomes.entries()) {
    const isLate = problems.length > 0 && problems.every(({ check }) => TIMED.has(check))
    if (isLate) outcomes[at] = await suite.run(requirements[at]!, values.client)
  }
  return outcomes
}
