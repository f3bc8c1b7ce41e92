import { withChangeNote } from '../base/changed-call.ts'
import { CrabError, toCrabError } from '../base/errors.ts'
import { parseObject } from '../base/json.ts'
import type { ToolCall } from '../base/message.ts'
import { didYouMean } from '../base/nearest.ts'
import { NOT_RUN_RESULT } from '../base/not-run.ts'
import { isWindowSender } from '../base/sender-class.ts'
import { CLASS_RIGHTS } from '../policy/class-rights.ts'
import type { PolicyAction, Trust } from '../policy/types.ts'
import type { ToolSpec } from '../provider/types.ts'
import type { FileVersion, RemoteNames } from '../storage/types.ts'
import type { Denial } from './asks.ts'
import type { EventChannel } from './event-channel.ts'
import type { AgentEvent } from './events.ts'
import { GroupLock } from './group-lock.ts'
import type { Hook, KnownFiles, ToolDispatch, ToolOutput, ToolRequest } from './hook.ts'
import type { Permissions } from './permission.ts'
import { type FileGroup, permitCall } from './permit-call.ts'
import type { TurnAsks } from './turn-asks.ts'

/** The state that all tool calls of one turn share. */
export interface ToolContext {
  hook: Hook
  permissions: Permissions
  asks: TurnAsks
  channel: EventChannel
  request: Omit<ToolRequest, 'args'>
  dispatch: Pick<
    ToolDispatch,
    'sender' | 'trust' | 'session' | 'runId' | 'env' | 'spillDir' | 'keepDir' | 'turnOver'
  >
  /** The versions of files, by resolved path; grows as tools read and write. */
  files: Map<string, string>
  /** The MCP servers whose instructions the model has been given; grows as tools give them. */
  introduced: Set<string>
  /** Tools that the model is not shown because a rule denies them: a call is refused with that rule. */
  withheld: ReadonlyMap<string, ToolSpec>
  /** Milliseconds since 1970. */
  now(): number
}

/** The state that the calls of one step share. */
export interface ToolStep {
  offered: readonly ToolSpec[]
  context: ToolContext
  onAnswer?(answer: FinishedCall): void
  /** See ToolDispatch.offerAgain. */
  offerAgain(): void
}

/** A finished call: its place in the step, its result and its duration. */
export interface FinishedCall {
  index: number
  call: ToolCall
  result: ToolOutput
  /** Does not include the time a person took to permit the call. */
  durationMs: number
  /** The files whose contents the call showed or wrote. */
  files: FileVersion[]
  /** Empty unless it is a tool of an MCP server. */
  remote: RemoteNames
}

/**
 * Runs all calls of a step concurrently, and yields each result as it arrives, and events in between.
 *
 * Never throws for a failing tool. `offered` are the tools that the model was shown; any other name is
 * refused. Leaving the iteration stops the tools that still run and waits for them; `onAnswer` gets every
 * result, including theirs.
 */
export async function* runToolCalls(
  calls: readonly ToolCall[],
  { offered, context, onAnswer, offerAgain }: ToolStep,
  signal: AbortSignal,
): AsyncGenerator<FinishedCall | AgentEvent> {
  const stop = new AbortController()
  const either = AbortSignal.any([signal, stop.signal])
  const tools = toolsByName(offered)
  const order: GroupLock<FileGroup> = new GroupLock()
  const startCall = async (index: number, call: ToolCall, earlier: Promise<unknown>) => {
    const finished = await answer({ index, call }, { context, tools, order, earlier, offerAgain }, either)
    onAnswer?.(finished)
    return finished
  }
  const running = new Map<number, Promise<FinishedCall>>()
  for (const [index, call] of calls.entries()) {
    running.set(index, startCall(index, call, Promise.allSettled(running.values())))
  }
  try {
    while (running.size > 0) {
      const done = yield* context.channel.during(Promise.race(running.values()))
      running.delete(done.index)
      yield done
    }
  } finally {
    stop.abort()
    await Promise.all(running.values())
  }
}

interface Step extends Pick<ToolStep, 'context' | 'offerAgain'> {
  tools: ReadonlyMap<string, ToolSpec>
  order: GroupLock<FileGroup>
  /** Resolves when the earlier calls of the step have ended. */
  earlier: Promise<unknown>
}

async function answer(
  place: { index: number; call: ToolCall },
  step: Step,
  signal: AbortSignal,
): Promise<FinishedCall> {
  const { now } = step.context
  const files: FileVersion[] = []
  let started = now()
  let hasStarted = false
  const onPermitted = () => {
    started = now()
    hasStarted = true
  }
  const result = await run(place.call, { ...step, files, onPermitted }, signal).catch((reason: unknown) =>
    signal.aborted ? refuse(hasStarted ? INTERRUPTED : NOT_RUN_RESULT) : toFailure(reason),
  )
  const remote = remoteNames(step.tools.get(place.call.name))
  return { ...place, result, durationMs: Math.max(0, Math.round(now() - started)), files, remote }
}

async function run(
  call: ToolCall,
  step: Step & { files: FileVersion[]; onPermitted(): void },
  signal: AbortSignal,
): Promise<ToolOutput> {
  const { context, tools, order, files, onPermitted } = step
  signal.throwIfAborted()
  const tool = tools.get(call.name) ?? context.withheld.get(call.name)
  if (!tool) {
    const { hook, dispatch } = context
    return refuse(hook.whyNot?.(call.name, dispatch.turnOver) ?? unknownTool(call.name, tools))
  }
  if (!parseArguments(call.arguments))
    return refuse(`Cannot call ${call.name}: its arguments are not a JSON object`)
  const toRequest = (one: ToolCall) => ({ ...context.request, args: parseArguments(one.arguments) ?? {} })
  const describe = async (one: ToolCall) =>
    (await context.hook.describe?.(tool.name, toRequest(one))) ?? plainAction(tool)
  const permitted = await permitCall(
    { call, describe, earlier: step.earlier },
    { permissions: context.permissions, order },
    signal,
  )
  if ('denial' in permitted) {
    const { denial } = permitted
    return { ...refuse(denialText(denial, context.dispatch.trust)), denial }
  }
  const { call: permittedCall, editedBy, action, turn } = permitted
  using _turn = turn
  signal.throwIfAborted()
  onPermitted()
  const request = toRequest(permittedCall)
  const needsDiff = action.kind === 'edit' && !context.permissions.hasShownDiff(permittedCall)
  const dispatch = { ...toDispatch({ call, request, action, files }, step, signal), needsDiff }
  if (editedBy !== undefined) dispatch.notice(changedNotice(call.name, editedBy))
  const running = async () =>
    (await context.hook.dispatch?.(tool.name, dispatch, signal)) ?? refuse(unknownTool(call.name, tools))
  if (editedBy === undefined) return await running()
  const result = await running().catch((reason: unknown) => {
    signal.throwIfAborted()
    return toFailure(reason)
  })
  return withEdit(result, permittedCall)
}

/** Says in the result what ran instead of the call that the model wrote. */
function withEdit(result: ToolOutput, { arguments: args }: ToolCall): ToolOutput {
  return { ...result, output: withChangeNote(result.output, args) }
}

function toDispatch(
  {
    call,
    request,
    action,
    files,
  }: { call: ToolCall; request: ToolRequest; action: PolicyAction; files: FileVersion[] },
  { context, offerAgain }: Step,
  signal: AbortSignal,
): ToolDispatch {
  return {
    ...request,
    ...context.dispatch,
    callId: call.id,
    action,
    files: followFiles(context.files, files),
    offerAgain,
    introduce: (server) => context.introduced.size < context.introduced.add(server).size,
    notice: (message) => context.channel.push({ type: 'notice', message, ...toServer(action) }),
    leavePlanMode: (mode) => context.permissions.leavePlanMode(mode),
    mayShow: (path) => context.permissions.mayShow(path),
    progress: (report) => context.channel.push({ type: 'tool-progress', callId: call.id, ...report }),
    async ask(questions, kind, unwanted) {
      const either = unwanted ? AbortSignal.any([signal, unwanted]) : signal
      const end = await context.asks.put({ kind, questions, permission: undefined }, either)
      if (end?.answers) return end.answers
      if (end) throw new CrabError('timeout', 'Cannot ask: no answer arrived in time')
      throw new CrabError('denied', 'Cannot ask: no user is available to answer')
    },
  }
}

function toServer(action: PolicyAction): { server?: string } {
  return action.kind === 'mcp' ? { server: action.server } : {}
}

/** Wraps the turn's file versions, and records in `added` those that this call sets. */
function followFiles(known: Map<string, string>, added: FileVersion[]): KnownFiles {
  return {
    get: (path) => known.get(path),
    set(path, version) {
      known.set(path, version)
      added.push({ path, version })
    },
  }
}

/** The server that provides a tool, and the server's own name for it. */
export function remoteNames({ server, alias }: Partial<ToolSpec> = {}): RemoteNames {
  return server === undefined ? {} : { server, ...(alias !== undefined && { tool: alias }) }
}

/**
 * Indexes the tools by name, and by alias where no other tool has that name. An alias that looks like the
 * name of a server's tool is left out: a call meant for that server would reach another one.
 */
export function toolsByName(offered: readonly ToolSpec[]): Map<string, ToolSpec> {
  const tools = new Map(offered.map((tool) => [tool.name, tool]))
  for (const tool of offered) {
    const { alias } = tool
    if (alias !== undefined && !alias.startsWith('mcp__') && !tools.has(alias)) tools.set(alias, tool)
  }
  return tools
}

function plainAction({ name, readOnly = false }: ToolSpec): PolicyAction {
  return { kind: 'tool', name, harmless: readOnly }
}

/** Parses the arguments, which must be an object; an empty string counts as an empty object. */
function parseArguments(text: string): Record<string, unknown> | undefined {
  return text.trim() === '' ? {} : parseObject(text)
}

function denialText({ action, reason, by, rules }: Denial, trust: Trust): string {
  const { table } = CLASS_RIGHTS[trust]
  const hint =
    by === 'nobody' && rules.length > 0
      ? `\nThe person who runs this can allow it with the rule ${rules.join(' and ')}${trust === 'local' ? '' : ` in [${table}]`}`
      : ''
  return `Not permitted: ${action}: ${reason}${hint}`
}

function unknownTool(name: string, tools: ReadonlyMap<string, ToolSpec>): string {
  const names = [...new Set([...tools.values()].map((tool) => tool.name))]
  const suggestion = didYouMean(name, names)
  return `Cannot call ${name}: no tool has that name; ${suggestion ?? formatNames(names)}`
}

/** Lists at most 10 names; a longer list could cost as much as the tools themselves. */
function formatNames(names: readonly string[]): string {
  if (names.length === 0) return 'no tools are available'
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : ''
  return `available: ${names.slice(0, MAX_NAMED).join(', ')}${more}`
}

const MAX_NAMED = 10

const INTERRUPTED = 'Interrupted: the turn was cancelled while this ran; a part of it may be done.'

function refuse(output: string): ToolOutput {
  return { output, isError: true }
}

function toFailure(reason: unknown): ToolOutput {
  const error = toCrabError(reason)
  return refuse(error.hint ? `${error.message} (${error.hint})` : error.message)
}

/** A sender that is only an id of a window is left out. */
function changedNotice(tool: string, by: string): string {
  const who = isWindowSender(by) ? '' : ` by ${by}`
  return `The call of ${tool} was changed${who} before it ran`
}
