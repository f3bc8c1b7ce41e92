import { toCrabError } from '../base/errors.ts'
import { parseObject } from '../base/json.ts'
import type { ToolCall } from '../base/message.ts'
import type { Hook, ToolDispatch, ToolOutput } from './hook.ts'

/** What all tool calls of one step share. */
export interface ToolSetting {
  hook: Hook
  /** Names the model was offered; anything else is refused (decision 23). */
  offered: ReadonlySet<string>
  dispatch: Omit<ToolDispatch, 'callId' | 'args'>
  /** Milliseconds of a monotonic clock. */
  now(): number
}

/** A finished call: its place in the step, its answer and how long it took. */
export interface ToolAnswer {
  index: number
  call: ToolCall
  result: ToolOutput
  durationMs: number
}

/**
 * Runs all calls of a step at once and yields each answer when it is there; never throws for a failing tool.
 *
 * Leaving the iteration stops the tools that still run and waits for them.
 */
export async function* runToolCalls(
  calls: readonly ToolCall[],
  setting: ToolSetting,
  signal: AbortSignal,
): AsyncGenerator<ToolAnswer> {
  const stop = new AbortController()
  const either = AbortSignal.any([signal, stop.signal])
  const running = new Map(calls.map((call, index) => [index, answer({ index, call }, setting, either)]))
  try {
    while (running.size > 0) {
      const done = await Promise.race(running.values())
      running.delete(done.index)
      yield done
    }
  } finally {
    stop.abort()
    await Promise.all(running.values())
  }
}

async function answer(
  place: { index: number; call: ToolCall },
  setting: ToolSetting,
  signal: AbortSignal,
): Promise<ToolAnswer> {
  const started = setting.now()
  const result = await run(place.call, setting, signal).catch(toFailure)
  return { ...place, result, durationMs: Math.max(0, Math.round(setting.now() - started)) }
}

async function run(call: ToolCall, setting: ToolSetting, signal: AbortSignal): Promise<ToolOutput> {
  signal.throwIfAborted()
  if (!setting.offered.has(call.name)) return refuse(unknownTool(call.name, setting.offered))
  const args = parseArguments(call.arguments)
  if (!args) return refuse(`Cannot call ${call.name}: its arguments are not a JSON object`)
  const running = setting.hook.dispatch?.(call.name, { ...setting.dispatch, callId: call.id, args }, signal)
  return (await running) ?? refuse(unknownTool(call.name, setting.offered))
}

/** Tool arguments are always an object; a model that sends none means an empty one. */
function parseArguments(text: string): Record<string, unknown> | undefined {
  return text.trim() === '' ? {} : parseObject(text)
}

function unknownTool(name: string, offered: ReadonlySet<string>): string {
  const known = offered.size > 0 ? `available: ${[...offered].join(', ')}` : 'no tools are available'
  return `Cannot call ${name}: there is no such tool; ${known}`
}

function refuse(output: string): ToolOutput {
  return { output, isError: true }
}

function toFailure(reason: unknown): ToolOutput {
  const error = toCrabError(reason)
  return refuse(error.hint ? `${error.message} (${error.hint})` : error.message)
}
