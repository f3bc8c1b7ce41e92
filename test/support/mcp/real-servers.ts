import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { McpEntry } from '../../../src/core/config/mcp-entry.ts'
import { livingWith, type Orphan } from '../orphans.ts'
import { until } from '../until.ts'
import { everythingEntry, filesystemEntry } from './mcp-servers.ts'

/** A widely used server, and how to observe it. */
export interface RealServer {
  entry: McpEntry
  /**
   * A call that succeeds, and one that the server answers with a failure: tool, arguments, and the expected
   * text.
   */
  good: RealCall
  bad: RealCall
  /** A call that reports progress with a message. */
  progress?: Omit<RealCall, 'expects'>
  /** Returns the processes of the server and its wrappers, without its watchers. */
  processes(): Promise<Orphan[]>
  /** Restarts a server that has no other supervisor. */
  revive?(): Promise<void>
}

interface RealCall {
  tool: string
  args: object
  expects: RegExp
}

/**
 * Returns official servers over stdio, one of them started like npx does, and that of a linter. `folder` is for
 * their files.
 */
export async function stdioServers(folder: string, mark: string): Promise<RealServer[]> {
  const [notes, lint] = [join(folder, 'notes'), join(folder, 'lint')]
  await Promise.all([mkdir(notes), mkdir(lint)])
  await writeFile(join(notes, 'today.md'), 'Buy milk.\n')
  await writeFile(join(lint, 'eslint.config.mjs'), `export default [{ rules: { 'no-var': 'error' } }]\n`)
  await writeFile(join(lint, 'old.js'), 'var x = 1\nexport default x\n')
  const servers: Omit<RealServer, 'processes'>[] = [
    { entry: everythingEntry(), ...EVERYTHING_CALLS },
    {
      entry: filesystemEntry([notes]),
      good: { tool: 'read_text_file', args: { path: join(notes, 'today.md') }, expects: /Buy milk/ },
      bad: { tool: 'read_text_file', args: { path: '/etc/hostname' }, expects: /denied|outside/i },
    },
    {
      entry: memoryEntry('memory', [process.execPath, findScript('server-memory')], folder),
      ...MEMORY_CALLS,
    },
    {
      entry: memoryEntry('npx', ['npx', '--no-install', 'mcp-server-memory'], folder),
      ...MEMORY_CALLS,
    },
    {
      entry: {
        name: 'thinking',
        command: process.execPath,
        args: [findScript('server-sequential-thinking')],
      },
      good: { tool: 'sequentialthinking', args: thought(1), expects: /"thoughtHistoryLength": 1/ },
      bad: { tool: 'sequentialthinking', args: thought(0), expects: /expected number to be >=1/ },
    },
    {
      entry: {
        name: 'eslint',
        command: process.execPath,
        args: [resolve(ROOT, 'node_modules/@eslint/mcp/src/mcp-cli.js')],
        cwd: lint,
      },
      good: { tool: 'lint-files', args: { filePaths: [join(lint, 'old.js')] }, expects: /no-var/ },
      bad: { tool: 'lint-files', args: { filePaths: [] }, expects: /at least 1 element/ },
    },
  ]
  return servers.map((server) => {
    const own = `${mark}-${server.entry.name}.`
    const { env, ...entry } = server.entry
    return {
      ...server,
      entry: { ...entry, env: { ...env, CRAB_MATRIX: own } },
      processes: async () =>
        (await livingWith(own)).filter(({ command }) => !command.includes('crabtalk-watch')),
    }
  })
}

/**
 * Starts the official server with every feature over HTTP, as a process of the test on a fixed port. Disposing
 * ends it.
 */
export async function remoteServer(kind: 'http' | 'sse'): Promise<RemoteServer> {
  const port = await freePort()
  const log: string[] = []
  let child: ChildProcess | undefined
  const start = async () => {
    child = spawn(
      process.execPath,
      [findScript('server-everything'), kind === 'sse' ? 'sse' : 'streamableHttp'],
      {
        env: { ...process.env, PORT: String(port) },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    )
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.on('data', (piece) => log.push(String(piece)))
    }
    await until(`a server listens on ${port}`, () => isOpen(port))
  }
  const end = async () => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
  await start()
  return {
    entry: { name: kind, url: `http://127.0.0.1:${port}/${kind === 'sse' ? 'sse' : 'mcp'}` },
    ...EVERYTHING_CALLS,
    processes: async () =>
      (await livingWith(findScript('server-everything'))).filter(({ pid }) => pid === child?.pid),
    async revive() {
      await end()
      await start()
    },
    log: () => log.join(''),
    [Symbol.asyncDispose]: end,
  }
}

/** A server that the test runs, and its output. */
export interface RemoteServer extends RealServer, AsyncDisposable {
  log(): string
}

const ROOT = resolve(import.meta.dirname, '../../..')

const EVERYTHING_CALLS: Pick<RealServer, 'good' | 'bad' | 'progress'> = {
  good: { tool: 'get-sum', args: { a: 2, b: 3 }, expects: /The sum of 2 and 3 is 5/ },
  bad: { tool: 'get-sum', args: { a: 'two', b: 3 }, expects: /expected number/i },
  progress: { tool: 'trigger-long-running-operation', args: { duration: 1, steps: 4 } },
}

const MEMORY_CALLS: Pick<RealServer, 'good' | 'bad'> = {
  good: {
    tool: 'create_entities',
    args: { entities: [{ name: 'Ann', entityType: 'person', observations: ['likes tea'] }] },
    expects: /likes tea|\[\]/, // the second time the data exists already
  },
  bad: {
    tool: 'add_observations',
    args: { observations: [{ entityName: 'Nobody', contents: ['x'] }] },
    expects: /Nobody not found/,
  },
}

function memoryEntry(name: string, [command, ...args]: string[], folder: string): McpEntry {
  const env = { MEMORY_FILE_PATH: join(folder, `${name}.json`) }
  return { name, command: command!, args, env, cwd: ROOT }
}

function thought(thoughtNumber: number): object {
  return { thought: 'It rains.', nextThoughtNeeded: false, thoughtNumber, totalThoughts: 1 }
}

function findScript(name: string): string {
  return fileURLToPath(import.meta.resolve(`@modelcontextprotocol/${name}/dist/index.js`))
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address ? address.port : 0
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}
