import { resolve } from 'node:path'
import type { Host } from '../../cli/host.ts'
import { resolvePaths } from '../../cli/paths.ts'
import { toOnAsk } from '../../cli/permission-settings.ts'
import { findRunFailure, isAnswered, RunRecord } from '../../cli/turn/record.ts'
import type { RunOutcome, Sink } from '../../cli/turn/sink.ts'
import { TurnOutput } from '../../cli/turn/turn-output.ts'
import { CrabError, ERROR_KINDS, toCrabError } from '../../core/base/errors.ts'
import { newUlid } from '../../core/base/ids.ts'
import { parseAnswer } from '../../core/base/json.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import { classifySender, isWindowSender } from '../../core/base/sender-class.ts'
import { DEFAULT_AGENT } from '../../core/config/default-name.ts'
import {
  type ConversationInfo,
  type DeepPartial,
  RetryPolicy,
  type StreamMsg,
  ToolSet,
} from '../../core/protocol/crabtalk.generated.ts'
import { type Dispatch, request, streamTurn } from '../../core/protocol/dispatch.ts'
import { withoutProviderKeys } from '../../core/provider/provider-keys.ts'
import { hasServerFiles } from '../../edge/entries/has-server-files.ts'
import { openResolver, toSessionPlace } from '../session-servers.ts'
import { fitInput } from './fit-input.ts'
import type { Input } from './input.ts'
import { type QuestionedRun, Questions } from './questions.ts'
import type { SendSettings } from './settings.ts'

/** Creates the record of a run that has not started. */
export function newRunRecord(settings: SendSettings): RunRecord {
  return new RunRecord({ startedAt: performance.now(), agent: settings.agent, sender: '' })
}

/** The dependencies of one turn. */
interface SendRun extends QuestionedRun {
  sink: Sink
  input: Input
  /** The lines about unused servers that this process has printed. */
  reported?: Set<string>
}

type PreparedRun = Pick<SendRun, 'settings' | 'host' | 'record' | 'input' | 'reported'> & {
  dispatch: Dispatch
}

/**
 * Prepares the message of a turn, with its input truncated if necessary, for the conversation that the
 * settings choose.
 */
export async function prepareMessage(
  { dispatch, ...run }: PreparedRun,
  signal: AbortSignal,
): Promise<DeepPartial<StreamMsg>> {
  const { settings, host, record } = run
  const input = await fitInput({ ...run, dispatch }, signal)
  const newSender = () => `sh:${newUlid()}`
  record.sender = await chooseSender({ settings, cwd: host.cwd(), newSender }, dispatch, signal)
  return toMessage(run, input, await findServers({ ...run, dispatch }, signal))
}

/**
 * Returns the servers of mcp.toml and .mcp.json for this turn, and says once what is not used and why. Only
 * turns of the local class may have servers of their own.
 */
async function findServers(
  { settings, host, record, dispatch, reported = new Set() }: Omit<PreparedRun, 'input'>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (settings.noMcp || settings.tools === ToolSet.NONE) return []
  if (classifySender(record.sender) !== 'local') return []
  const place = toSessionPlace(host)
  if (!hasServerFiles(place)) return []
  const { findTurnServers } = await import('../../edge/entries/turn-servers.ts')
  const { toSkippedLine } = await import('../../edge/entries/server-trust.ts')
  const { agent } = settings
  const context = { place, resolver: openResolver(host) }
  const { mcps, notices, unanswered } = await findTurnServers(context, { agent, dispatch }, signal)
  const hints = notices.map(({ text, hint }) => (hint === undefined ? text : `${text} (${hint})`))
  for (const line of [...hints, ...unanswered.map(toSkippedLine)]) {
    if (!reported.has(line) && settings.verbosity >= 0) host.stderr.write(sanitize(`crabtalk: ${line}\n`))
    reported.add(line)
  }
  return mcps
}

/** Sends the message, and follows its events into the record, the sink and standard error. */
export async function sendAndFollow(run: SendRun): Promise<void> {
  const { settings, stop, record, attached } = run
  const { dispatch } = attached
  const message = await prepareMessage({ ...run, dispatch }, stop.signal)
  const { verbosity, thinking = false } = settings
  using output = new TurnOutput({ ...run, verbosity, thinking, status: settings.form !== 'stream-json' })
  await using questions = new Questions(run)
  const signal = AbortSignal.any([stop.signal, questions.signal])
  for await (const { event } of streamTurn(dispatch, message, signal)) {
    if (!event) continue
    stop.pauseIdle()
    record.apply(event, performance.now())
    await output.show(event)
    await questions.event(event)
    if (!record.isActing) stop.resetIdle()
  }
  stop.pauseIdle()
  await markContinued(settings, record.session, run.host)
}

/**
 * Records that the user has seen the conversation that `--continue` continued, so that the chat of this
 * directory opens it, too.
 */
export async function markContinued(settings: SendSettings, session: string, host: Host): Promise<void> {
  if (settings.target.kind !== 'last' || session === '') return
  const { markLookedAt } = await import('../../cli/looked-at.ts')
  await markLookedAt(resolvePaths(host).cache, session, Date.now())
}

/** Runs one turn and returns its outcome; never throws. */
export async function runToOutcome(
  record: RunRecord,
  settings: SendSettings,
  run: () => Promise<void>,
): Promise<RunOutcome> {
  const error = await run().then(() => findRunFailure(record, settings), toCrabError)
  const isWhole = isAnswered(record) && (!error || error.kind === 'denied')
  const structured = settings.schema !== '' && isWhole ? parseAnswer(record.lastText) : undefined
  return { exit: error ? ERROR_KINDS[error.kind].exit : 0, error, structured }
}

function toMessage(
  { settings, host, record }: Pick<SendRun, 'settings' | 'host' | 'record'>,
  input: Input,
  mcps: readonly string[],
): DeepPartial<StreamMsg> {
  const { model, system, schema, maxTurns, compactAt, maxCostUsd, thinking, effort, retries, ephemeral } =
    settings
  // only such turns may choose their directory and environment
  const isLocal = classifySender(record.sender) === 'local'
  return {
    agent: settings.agent,
    content: input.content,
    sender: record.sender,
    ...(isLocal && { cwd: host.cwd() }),
    options: {
      model,
      system,
      schema,
      maxTurns,
      compactAt,
      maxCost: maxCostUsd,
      thinking,
      effort,
      retries,
      retryPolicy: RetryPolicy.QUICK, // what is printed cannot be taken back
      ephemeral,
      tools: settings.tools,
      noMcp: settings.noMcp,
      ...(mcps.length > 0 && { mcps: [...mcps] }),
      allow: [...settings.allow],
      ask: [...settings.ask],
      deny: [...settings.deny],
      ...(isLocal && { roots: settings.roots.map((path) => resolve(host.cwd(), path)) }),
      mode: settings.mode,
      onAsk: toOnAsk(settings.onAsk),
      env: isLocal ? withoutProviderKeys(host.env) : {},
      attachments: input.attachments,
    },
  }
}

type TargetSettings = Pick<SendSettings, 'agent' | 'target' | 'fork'>

/** Returns the sender whose conversation a message goes to; with --fork, after copying its session. */
export async function chooseSender(
  at: { settings: TargetSettings; cwd: string; newSender(): string },
  dispatch: Dispatch,
  signal: AbortSignal,
): Promise<string> {
  const { settings, newSender } = at
  const { target, fork } = settings
  if (target.kind === 'fresh') return newSender()
  if (target.kind === 'named' && !fork) return target.sender
  const found = await findConversation(at, dispatch, signal)
  if (fork) await request(dispatch, 'forkSession', { session: found.filePath }, signal)
  else await request(dispatch, 'activateSession', { session: found.filePath }, signal) // a newer one may be empty
  return found.sender
}

async function findConversation(
  { settings, cwd }: { settings: TargetSettings; cwd: string },
  dispatch: Dispatch,
  signal: AbortSignal,
): Promise<ConversationInfo> {
  const { target, agent } = settings
  const which = target.kind === 'named' ? { sender: target.sender, limit: 1 } : { cwd, limit: 0 }
  const filter = { agent: agent || DEFAULT_AGENT, ...which }
  const { readConversations } = await import('../../cli/find-conversation.ts')
  const { conversations } = await readConversations(dispatch, filter, signal)
  const latest = conversations.find((info) => target.kind === 'named' || isOurs(info.sender)) // newest first
  if (latest) return latest
  const what = target.kind === 'named' ? `named "${target.sender}"` : `of ${agent || DEFAULT_AGENT} in ${cwd}`
  throw new CrabError('missing', `Cannot continue: no conversation ${what} exists`, {
    hint: 'leave out the option to start one',
  })
}

/**
 * Whether a user on this machine started the conversation: its sender is a plain name, or one that `send`
 * generated.
 */
function isOurs(sender: string): boolean {
  return !sender.includes(':') || isWindowSender(sender)
}
