import { existsSync } from 'node:fs'
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { findPeers } from './peers.ts'
import { makeSetting, type Suite, type SuiteResult } from './setting.ts'
import { daemon } from './suites/daemon.ts'
import { daemonCrowd } from './suites/daemon-crowd.ts'
import { daemonHome } from './suites/daemon-home.ts'
import { mcpCalls } from './suites/mcp-calls.ts'
import { mcpConnect } from './suites/mcp-connect.ts'
import { mcpCrowd } from './suites/mcp-crowd.ts'
import { memory } from './suites/memory.ts'
import { oneShot } from './suites/one-shot.ts'
import { relevance } from './suites/relevance.ts'
import { search } from './suites/search.ts'
import { searchDaemon } from './suites/search-daemon.ts'
import { startUp } from './suites/start-up.ts'
import { streaming } from './suites/streaming.ts'
import { tui } from './suites/tui.ts'
import { toTable } from './table.ts'

// npm run bench -- [startup|one-shot|streaming|tui|daemon|mcp|search|memory|relevance …] [--rounds N]
// [--messages N] [--binary FILE] [--peers DIR]
// Measures the built binary beside floors of the same run, and beside other programs that npm has installed
// in DIR. Prints a table for each suite and writes all of them to bench/results/latest.json, where suites
// that were not run keep their last results. `daemon`, `mcp` and `search` stand for all suites that start
// with that word.
const SUITES: Readonly<Record<string, Suite>> = {
  startup: startUp,
  'one-shot': oneShot,
  streaming,
  tui,
  daemon,
  'daemon-home': daemonHome,
  'daemon-crowd': daemonCrowd,
  'mcp-connect': mcpConnect,
  'mcp-calls': mcpCalls,
  'mcp-crowd': mcpCrowd,
  search,
  'search-daemon': searchDaemon,
  memory,
  relevance,
}
const RESULTS = join(import.meta.dirname, 'results/latest.json')
const MAX_BINARY_MB = 125

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '15' },
    messages: { type: 'string', default: '1000000' },
    binary: { type: 'string', default: 'dist/crabtalk' },
    peers: { type: 'string' },
  },
})
process.exitCode = await bench(positionals.length > 0 ? positionals : Object.keys(SUITES))

async function bench(names: readonly string[]): Promise<number> {
  const binary = resolve(options.binary)
  const suites = Object.keys(SUITES)
  const unknown = names.find((name) => !suites.some((suite) => isPart(suite, name)))
  if (unknown !== undefined) return fail(`there is no suite ${unknown}: ${suites.join(', ')}`)
  if (!existsSync(binary)) return fail(`there is no ${binary}: npm run build makes one`)
  const peers = options.peers === undefined ? undefined : resolve(options.peers)
  await using setting = await makeSetting(
    { binary, rounds: Number(options.rounds), messages: Number(options.messages) },
    (place) => findPeers(peers, place),
  )
  if (peers !== undefined && setting.peers.length === 0)
    return fail(`there is no program to compare with in ${peers}`)
  for (const name of suites.filter((suite) => names.some((name) => isPart(suite, name)))) {
    const result = await SUITES[name]!(setting)
    for (const [table, { columns, lines }] of toTables(name, result)) {
      console.log(`\n== ${table}\n${toTable(columns, lines)}`)
      await save(table, { columns, lines }, binary)
    }
  }
  const binaryMb = await megabytes(binary)
  const judged = binaryMb <= MAX_BINARY_MB ? '✓ ≤' : '✗ >'
  console.log(`\nbinary: ${binaryMb.toFixed(1)} MB ${judged} ${MAX_BINARY_MB}`)
  return 0
}

function toTables(name: string, result: SuiteResult): [name: string, result: SuiteResult][] {
  const more = Object.entries(result.also ?? {})
  return [[name, result], ...more.map(([part, table]): [string, SuiteResult] => [`${name}, ${part}`, table])]
}

function isPart(suite: string, name: string): boolean {
  return suite === name || suite.startsWith(`${name}-`)
}

function fail(why: string): number {
  console.error(`Cannot measure: ${why}`)
  return 1
}

async function megabytes(file: string): Promise<number> {
  return (await stat(file)).size / 1e6
}

/** Merges the suite into the results; every suite has its own date. */
async function save(name: string, { columns, lines }: SuiteResult, binary: string): Promise<void> {
  const { suites = {} } = JSON.parse(await readFile(RESULTS, 'utf8').catch(() => '{}'))
  const date = new Date().toISOString()
  const results = {
    date,
    node: process.version,
    cpu: cpus()[0]?.model,
    cores: cpus().length,
    binaryMb: await megabytes(binary),
    suites: { ...suites, [name]: { date, columns, lines } },
  }
  await mkdir(dirname(RESULTS), { recursive: true })
  await writeFile(RESULTS, `${JSON.stringify(results, undefined, 2)}\n`)
}
