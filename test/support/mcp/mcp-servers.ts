import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stringify } from 'smol-toml'
import { programFile } from '../programs.ts'
import type { Message } from './message.ts'
import { formatOptions, type ServerOptions } from './options.ts'
import { pidsIn, type Received, receivedIn } from './record.ts'

const SCRIPT = programFile(join(import.meta.dirname, 'misbehaving-server.ts'))
const PLAIN_SCRIPT = programFile(join(import.meta.dirname, 'plain-server.ts'))
const NPX = programFile(join(import.meta.dirname, 'npx-like.ts'))
const STUBBORN = ['eof', 'SIGTERM', 'SIGINT', 'SIGHUP'] as const

/** A literal stdio entry of an agent's `[[mcps]]`. */
export interface StdioEntry {
  name: string
  command: string
  args: string[]
  env?: Record<string, string>
  cwd?: string
}

/** The way a server is started. */
export interface Start {
  /** The name of the entry. */
  name?: string
  /** Whether a shell started with `sh -c` stays above the server; `npx` starts it like npx does. */
  wrapped?: boolean | 'npx'
  /** Whether to use the small server that loads no library instead of the one with all options. */
  isPlain?: boolean
  env?: Record<string, string>
  cwd?: string
}

/** A server that a test can observe. */
export interface WatchedServer {
  entry: StdioEntry
  /** A word on the command line of its processes, and of no others. */
  mark: string
  /** Returns everything that has reached it, in order, across all of its processes. */
  received(): Received[]
  /** Returns the received messages, only those with this method if one is given. */
  messages(method?: string): Message[]
  /** Returns the pids of its processes, in order of their starts. */
  starts(): number[]
}

/** The options of servers with one fault each, for tests that try all of them. */
export const BEHAVIOURS = {
  good: {},
  crashOnStart: { at: { start: 'crash' } },
  crashOnInitialize: { at: { initialize: 'crash' } },
  crashOnList: { at: { 'tools/list': 'crash' } },
  crashOnCall: { at: { 'tools/call': 'crash' } },
  exitOnCall: { at: { 'tools/call': 'exit' } },
  tornOnCall: { at: { 'tools/call': 'torn' } },
  hangOnInitialize: { at: { initialize: 'hang' } },
  hangOnList: { at: { 'tools/list': 'hang' } },
  hangOnCall: { at: { 'tools/call': 'hang' } },
  deafOnCall: { at: { 'tools/call': 'deaf' } },
  closeOnCall: { at: { 'tools/call': 'close' } },
  errorOnList: { at: { 'tools/list': 'error' } },
  slowStart: { delay: { start: 1_000 } },
  slowExit: { delay: { exit: 1_000 } },
  stubborn: { ignore: STUBBORN },
  grandchild: { grandchild: ['plain'] },
  stubbornGrandchild: { grandchild: ['stubborn'] },
  sessionGrandchild: { grandchild: ['session'] },
  stubbornSessionGrandchild: { grandchild: ['session+stubborn'] },
  stderrFlood: { flood: 2_000_000 },
  garbage: { noise: ['text', 'blank', 'json', 'partial'] },
  hugeLines: { noise: ['huge'] },
  bom: { noise: ['bom'] },
  crlf: { noise: ['crlf'] },
  splitLines: { noise: ['split'] },
  wrongVersion: { protocol: '1999-12-31' },
  twiceAnswered: { answers: ['twice'] },
  unknownAnswers: { answers: ['unknown'] },
  lateAnswers: { answers: ['late'] },
  textIds: { answers: ['text-id'] },
  nullIds: { answers: ['null-id'] },
  asking: { ask: ['ping', 'roots/list', 'sampling/createMessage', 'elicitation/create'] },
  oddNames: { tools: ['odd', 'few'] },
  twins: { tools: ['twins', 'few'] },
  badSchemas: { tools: ['schemas', 'few'] },
  pages: { pages: 3 },
  repeatingCursor: { cursor: 'repeat' },
  endlessCursor: { cursor: 'endless' },
  listLoop: { loop: true },
  unadvertisedChanges: { capabilities: { tools: {} } },
  modern: { era: 'modern' },
  bothEras: { era: 'both' },
  exitOnProbe: { at: { 'server/discover': 'exit' } },
  hangOnProbe: { at: { 'server/discover': 'hang' } },
  lateModern: { era: 'modern', late: { 'server/discover': 'initialize' } },
} as const satisfies Record<string, ServerOptions>

/** Builds the entry of a server with these options. */
export function misbehavingEntry(options: ServerOptions = {}, start: Start = {}): StdioEntry {
  const script = start.isPlain ? PLAIN_SCRIPT : SCRIPT
  return makeEntry([process.execPath, script, ...formatOptions(options)], { name: 'misbehaving', ...start })
}

/** Builds an entry like misbehavingEntry(), with its record in this folder, which the caller owns. */
export function watchedServer(folder: string, options: ServerOptions = {}, start: Start = {}): WatchedServer {
  const mark = `crab-${randomUUID()}`
  const [record, starts] = [join(folder, `${mark}.record`), join(folder, `${mark}.starts`)]
  return {
    entry: misbehavingEntry({ mark, record, starts, ...options }, start),
    mark,
    received: () => receivedIn(record),
    messages: (method) =>
      receivedIn(record).flatMap(({ message }) =>
        message !== undefined && (method === undefined || message.method === method) ? [message] : [],
      ),
    starts: () => pidsIn(starts),
  }
}

/** Builds the entry of the official server with every feature. */
export function everythingEntry(start: Start = {}): StdioEntry {
  const script = installed('@modelcontextprotocol/server-everything/dist/index.js')
  return makeEntry([process.execPath, script, 'stdio'], { name: 'everything', ...start })
}

/** Builds the entry of the official file server for these folders, as absolute paths. */
export function filesystemEntry(folders: readonly string[], start: Start = {}): StdioEntry {
  const script = installed('@modelcontextprotocol/server-filesystem/dist/index.js')
  return makeEntry([process.execPath, script, ...folders], { name: 'fs', ...start })
}

/** Writes entries as the start of an agent file; further keys are written too. */
export function entriesToml(...entries: readonly StdioEntry[]): string {
  return stringify({ mcps: entries })
}

function makeEntry(line: readonly string[], start: Start & { name: string }): StdioEntry {
  const { name, wrapped = false, env, cwd } = start
  const [command, ...args] = [...findWrapper(wrapped), ...line]
  return { name, command: command!, args, ...(env && { env }), ...(cwd !== undefined && { cwd }) }
}

function findWrapper(wrapped: NonNullable<Start['wrapped']>): string[] {
  if (wrapped === 'npx') return [process.execPath, NPX]
  return wrapped ? ['/bin/sh', '-c', '"$@"; exit $?', 'sh'] : []
}

function installed(file: string): string {
  return fileURLToPath(import.meta.resolve(file))
}

/**
 * Builds a server with resources and prompts, and with tools that ask the user; by default in the newest
 * revision.
 */
export function askingEntry(era?: 'legacy' | 'modern', name = 'docs'): StdioEntry {
  const args = [programFile(join(import.meta.dirname, 'asking-server.ts')), ...(era ? [era] : [])]
  return { name, command: process.execPath, args }
}
