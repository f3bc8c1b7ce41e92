import {
  type Check,
  type CheckContext,
  type CheckResult,
  type CheckStatus,
  problem,
} from '../../cli/check.ts'
import { colorize, type Paint, wantsColor } from '../../cli/color.ts'
import type { CommandHandler } from '../../cli/command.ts'
import type { Host } from '../../cli/host.ts'
import { resolvePaths } from '../../cli/paths.ts'
import { printJson } from '../../cli/print.ts'
import { withProgress } from '../../cli/progress.ts'
import { toCrabError } from '../../core/base/errors.ts'
import { pluralize } from '../../core/base/format.ts'
import { sanitizeLine } from '../../core/base/sanitize.ts'
import { VERSION } from '../../core/base/version.ts'
import { readAgentFiles, toAgent } from '../../core/config/agent-files.ts'
import type { AgentConfig } from '../../core/config/agent-schema.ts'
import type { HomePaths } from '../../core/config/paths.ts'
import { checkConfiguration } from './configuration.ts'
import { checkHomeFolder } from './home.ts'
import { checkModel } from './model.ts'
import { checkPermissions } from './permissions.ts'
import { checkCompletions, checkProgram } from './program.ts'
import { checkServers } from './servers/servers.ts'
import { checkTerminal } from './terminal.ts'

/** Runs `crabtalk doctor`: checks everything and says what to do. Exits with 1 when there is a problem. */
export const doctorCommand: CommandHandler = async (invocation) => runChecks(invocation, DOCTOR_CHECKS)

/**
 * Runs the checks of these areas, prints the results, and with --fix applies the fixes; the exit code is 1
 * while there is a problem. `deep` is that of collectFindings().
 */
export async function runChecks(
  { options, host, signal }: Parameters<CommandHandler>[0],
  checks: typeof DOCTOR_CHECKS,
  deep = options.has('deep'),
): Promise<number> {
  const mode = { deep, fix: options.has('fix') }
  const areas = await withProgress(host, 'checking', collectFindings({ host, checks, ...mode }, signal))
  const hasProblem = areas.some(({ found }) => found.some(({ status }) => status === 'problem'))
  if (options.has('json')) printJson(host, toJson(areas, hasProblem))
  else printReport(host, areas)
  return hasProblem ? 1 : 0
}

/**
 * Runs the checks of these areas, within 4.5 s, or 60 s with `deep`; with `fix`, applies the fixes. A check
 * that fails or takes too long is a problem.
 */
export async function collectFindings(
  { host, checks, deep, fix }: { host: Host; checks: typeof DOCTOR_CHECKS; deep: boolean; fix: boolean },
  signal: AbortSignal,
): Promise<AreaResults[]> {
  const paths = resolvePaths(host)
  const place = { host, paths, deep, agents: await readAgents(paths) }
  const limit = AbortSignal.any([signal, AbortSignal.timeout(deep ? DEEP_LIMIT_MS : LIMIT_MS)])
  return await Promise.all(
    checks.map(async ([area, check]) => {
      const found = await runCheck(check, place, limit)
      return { area, found: fix ? await Promise.all(found.map(applyFix)) : found }
    }),
  )
}

/** The findings of one area. */
interface AreaResults {
  area: string
  found: readonly CheckResult[]
}

/** Reports a fixed finding as ok, and one that could not be fixed unchanged. */
async function applyFix(finding: CheckResult): Promise<CheckResult> {
  if (!finding.fix) return finding
  const isDone = await finding.fix.apply().then(
    (done) => done !== false,
    () => false,
  )
  return isDone ? { status: 'ok', message: `fixed: ${finding.fix.done}` } : finding
}

/** Ends within the time limit, whatever the check waits for. */
async function runCheck(check: Check, context: CheckContext, limit: AbortSignal): Promise<CheckResult[]> {
  const late = Promise.withResolvers<CheckResult[]>()
  limit.addEventListener('abort', () => late.resolve([problem('the check took too long')]), {
    once: true,
  })
  try {
    return await Promise.race([check(context, limit), late.promise])
  } catch (reason) {
    const { message, hint } = toCrabError(reason)
    return [problem(message, hint)]
  }
}

/** Reads the valid agents; the check of the configuration reports the others. */
export async function readAgents({ agents }: HomePaths): Promise<AgentConfig[]> {
  const files = await readAgentFiles(agents).catch(() => [])
  const outcomes = await Promise.all(files.map(toAgent))
  return outcomes.flatMap((outcome) => (outcome.ok ? [outcome.value] : []))
}

function printReport(host: Host, areas: readonly AreaResults[]): void {
  const color = wantsColor('auto', host.env, host.stdout)
  const blocks = areas.map(({ area, found }) => {
    const lines = found.map(({ status, message, hint }) => {
      const advice =
        hint === undefined
          ? ''
          : `\n${' '.repeat(WIDTH + 4)}${colorize('hint', 'dim', color)}: ${sanitizeLine(hint)}`
      return `  ${colorize(status.padEnd(WIDTH), PAINTS[status], color)}  ${sanitizeLine(message)}${advice}\n`
    })
    return `${colorize(area, 'bold', color)}\n${lines.join('')}`
  })
  const all = areas.flatMap(({ found }) => found)
  const count = (status: CheckStatus) => all.filter((one) => one.status === status).length
  const end = `${pluralize(count('problem'), 'problem')}, ${pluralize(count('warning'), 'warning')}`
  host.stdout.write(`${blocks.join('\n')}\n${end}\n`)
}

function toJson(areas: readonly AreaResults[], hasProblem: boolean) {
  return {
    v: 1,
    ok: !hasProblem,
    version: VERSION,
    checks: areas.flatMap(({ area, found }) =>
      found.map(({ status, message, hint = null }) => ({ area, status, message, hint })),
    ),
  }
}

/** The checks of `crabtalk doctor`. */
export const DOCTOR_CHECKS: readonly (readonly [area: string, Check])[] = [
  ['program', checkProgram],
  ['home', checkHomeFolder],
  ['configuration', checkConfiguration],
  ['model', checkModel],
  ['permissions', checkPermissions],
  ['mcp servers', checkServers],
  ['terminal', checkTerminal],
  ['completions', checkCompletions],
]

const PAINTS: Record<CheckStatus, Paint> = { ok: 'green', note: 'dim', warning: 'yellow', problem: 'red' }
const WIDTH = 'problem'.length
const LIMIT_MS = 4500
const DEEP_LIMIT_MS = 60_000
