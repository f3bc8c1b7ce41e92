import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { z } from 'zod'
import type { ProcessHost } from '../../src/core/process/types.ts'

/** A scenario that a revision of MCP requires of clients. */
export interface Requirement {
  /** A revision such as `2025-11-25`; the scenario runs in its wire format. */
  revision: string
  scenario: string
}

/** The result of a scenario. */
export interface Outcome {
  /** The number of checks that passed. */
  passed: number
  /** The checks that failed, in the suite's words; empty when the scenario passed. */
  problems: readonly Problem[]
}

export interface Problem {
  check: string
  words: string
}

/** The official suite, as installed by npm. Disposing removes the home of its processes. */
export interface Suite extends AsyncDisposable {
  /** Lists the requirements of a revision, in the suite's order. */
  requirements(revision: string): Promise<Requirement[]>
  /**
   * Runs a client, which gets the URL of a server as its last argument. All its processes are gone when this
   * resolves.
   */
  run(requirement: Requirement, client: string): Promise<Outcome>
}

/** Opens the suite, which runs on this process's Node in a home of its own. */
export async function openSuite(processes: ProcessHost): Promise<Suite> {
  const home = await mkdtemp(join(tmpdir(), 'conformance-'))
  const suite = async (...args: string[]) => await runSuite(processes, home, args)
  return {
    async requirements(revision) {
      const { stdout, stderr } = await suite('list', '--client', '--requirements', revision)
      const [, list = ''] = stdout.split('Client scenarios')
      const names = list.split('\n\n')[0]!.matchAll(/^ {2}- (\S+)$/gm)
      const found = Array.from(names, ([, scenario]) => ({ revision, scenario: scenario! }))
      if (found.length === 0) throw new Error(`the suite names no client scenario of ${revision}: ${stderr}`)
      return found
    },
    async run({ revision, scenario }, client) {
      const what = ['--scenario', scenario, '--spec-version', revision, '--force']
      return toOutcome(await suite('client', '--verbose', '--command', client, ...what))
    },
    [Symbol.asyncDispose]: () => rm(home, { recursive: true, force: true }),
  }
}

interface Run {
  code: number | null
  stdout: string
  stderr: string
}

async function runSuite(processes: ProcessHost, home: string, args: readonly string[]): Promise<Run> {
  await using program = await processes.start({
    argv: [process.execPath, MAIN, ...args],
    cwd: ROOT,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: home,
      CRABTALK_HOME: home,
      // Half the time of a run is spent loading the same code.
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? join(home, 'code'),
    },
    stdin: 'none',
  })
  const output = Promise.all([text(program.stdout), text(program.stderr)])
  const { code } = await program.exited
  await program.end() // a client that did not end holds the pipes
  const [stdout, stderr] = await output
  return { code, stdout, stderr }
}

/**
 * Converts a run to an outcome. Warnings are recommendations and do not fail a scenario; a client that exits
 * with an error does, unless the scenario expects it.
 */
function toOutcome({ code, stdout, stderr }: Run): Outcome {
  const checks = readChecks(stdout)
  const failed = checks.filter(({ status }) => status === 'FAILURE')
  const passed = checks.filter(({ status }) => status === 'SUCCESS').length
  const problems = failed.map(({ id, name, description, errorMessage }) => ({
    check: id,
    words: `${name}: ${errorMessage ?? description}`,
  }))
  const end = /CLIENT (?:TIMED OUT|EXITED WITH ERROR).*/.exec(stderr)?.[0]
  const hasWarning = checks.some(({ status }) => status === 'WARNING')
  if (end !== undefined) problems.push({ check: 'client', words: `${end}\n${readClientOutput(stderr)}` })
  else if (problems.length === 0 && (passed === 0 || (code !== 0 && !hasWarning)))
    problems.push({
      check: 'suite',
      words: `the suite ended with ${code}: ${stderr.trim() || stdout.trim()}`,
    })
  return { passed, problems }
}

/** Returns the beginning of a client's standard error, as the suite repeats it. */
function readClientOutput(stderr: string): string {
  const output = /\nStderr:\n(.*?)\nTest Results:/s.exec(stderr)?.[1] ?? ''
  return output.trim().split('\n').slice(0, LINES).join('\n')
}

function readChecks(stdout: string): z.infer<typeof CHECKS> {
  const begin = stdout.indexOf('[')
  try {
    return CHECKS.parse(JSON.parse(stdout.slice(begin)))
  } catch {
    return [] // reported as a problem of the suite
  }
}

const CHECKS = z.array(
  z.object({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    status: z.string(),
    errorMessage: z.string().optional(),
  }),
)
const LINES = 8
const ROOT = join(import.meta.dirname, '../..')
const PACKAGE = createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json')
const MAIN = join(dirname(PACKAGE), 'dist/index.js')
