import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ERROR_KINDS, type ErrorKind } from '../../src/core/base/errors.ts'
import type { JsonObject } from '../../src/core/base/message.ts'
import { type ModelServer, type RecordedRequest, type Script, startModelServer } from './model-server.ts'
import {
  type Finished,
  HAS_DAEMONS,
  makeSandbox,
  type Running,
  type RunOptions,
  type Sandbox,
} from './run-binary.ts'
import { startSandboxDaemon } from './sandbox-daemon.ts'

/** A sandbox with its own scripted model server. */
export interface Talk extends Sandbox {
  server: ModelServer
  /** Runs `crabtalk send` to its end. */
  send(args: readonly string[], options?: RunOptions): Promise<Finished>
  startSend(args: readonly string[], options?: RunOptions): Running
  /** Reads every stored session, oldest first; a line that does not parse, or is incomplete, fails the test. */
  sessions(): Promise<Session[]>
}

/** A stored session file. */
export interface Session {
  path: string
  header: JsonObject
  lines: JsonObject[]
  /** Returns `role: content` of each message, with the reason for an incomplete answer. */
  said: string[]
}

/** Creates a sandbox whose config.toml names that server; `config` writes another one. */
export async function makeTalk(script: Script, config: (url: string) => string = shortConfig): Promise<Talk> {
  const box = await makeSandbox()
  const server = await startModelServer(script)
  await writeConfig(box.home, config(server.url))
  const daemon = HAS_DAEMONS ? await startSandboxDaemon(box) : undefined
  return {
    ...box,
    server,
    send: (args, options) => box.run(['send', ...args], options),
    startSend: (args, options) => box.start(['send', ...args], options),
    sessions: () => readSessions(box.home),
    processesLeft: async () => (await box.processesLeft()).filter((pid) => pid !== daemon?.pid),
    async [Symbol.asyncDispose]() {
      await daemon?.[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
      await box[Symbol.asyncDispose]()
    },
  }
}

/** Returns a config.toml with one OpenAI-compatible server and the model `scripted`. */
export function shortConfig(url: string): string {
  return `[llm]\nbase_url = "${url}"\nmodel = "scripted"\n`
}

/** Returns the same configuration with properties of the model, as TOML keys: `context = 1000, input_usd = 1`. */
export function configWithFacts(facts: string): (url: string) => string {
  return (url) => `[[providers]]
name = "test"
kind = "openai-compatible"
base_url = "${url}"
models = [{ name = "scripted", ${facts} }]
`
}

/** Writes the config.toml of a home, which is created as a user would create it. */
export async function writeConfig(home: string, text: string): Promise<void> {
  await mkdir(home, { recursive: true, mode: 0o700 })
  await writeFile(join(home, 'config.toml'), text, { mode: 0o600 })
}

/** Reads every session of a home. */
export async function readSessions(home: string): Promise<Session[]> {
  const folder = join(home, 'sessions')
  const names = (await readdir(folder).catch(() => [])).toSorted((a, b) =>
    a.slice(17).localeCompare(b.slice(17)),
  )
  return Promise.all(names.map((name) => readSession(join(folder, name))))
}

/** Returns the content of the last user message of a request, as one text. */
export function lastPrompt(request: RecordedRequest | undefined): string {
  const last = (request?.json['messages'] as { role: string; content: unknown }[] | undefined)?.at(-1)
  assert.equal(last?.role, 'user')
  if (typeof last.content === 'string') return last.content
  return (last.content as { type: string; text?: string }[]).map(({ text = '' }) => text).join('')
}

/**
 * Checks how a run failed: its exit code, the standard form of its message, and that nothing else was
 * printed.
 */
export function assertFailed(
  { stdout, stderr, code, signal }: Finished,
  kind: ErrorKind,
  { message, hint, stdout: answer = '' }: FailureText,
): void {
  const start = `crabtalk: error[${kind}]: `
  assert.ok(stderr.startsWith(start), `standard error starts otherwise: ${stderr}`)
  const [said = '', ...rest] = stderr.slice(start.length).split('\n')
  assert.match(said, message)
  assert.match(rest.join('\n'), hint ? /^hint: .+\n$/ : /^(hint: .+\n)?$/)
  if (hint) assert.match(rest[0] ?? '', hint)
  assert.deepEqual([stdout, code, signal], [answer, ERROR_KINDS[kind].exit, null])
}

interface FailureText {
  message: RegExp
  /** The expected hint; by default there may be none. */
  hint?: RegExp
  stdout?: string
}

/** Lists every file and folder below a home with its mode, as `600 sessions/x`; sorted. */
export async function modesUnder(home: string): Promise<string[]> {
  const names = await readdir(home, { recursive: true }).catch(() => [])
  const rows = await Promise.all(
    names.map(async (name) => {
      const { mode } = await stat(join(home, name))
      return `${(mode & 0o777).toString(8)} ${name}`
    }),
  )
  return rows.toSorted((a, b) => a.slice(4).localeCompare(b.slice(4)))
}

async function readSession(path: string): Promise<Session> {
  const text = await readFile(path, 'utf8')
  assert.ok(text.endsWith('\n'), `the last line of ${path} is cut`)
  const [header = {}, ...lines] = text
    .trimEnd()
    .split('\n')
    .map((line): JsonObject => JSON.parse(line))
  return { path, header, lines, said: lines.flatMap(toSaid) }
}

function toSaid({ kind, role, content, stop_reason: reason }: JsonObject): string[] {
  if (kind !== 'entry') return []
  return [`${role}: ${content}${reason === undefined ? '' : ` [${reason}]`}`]
}
