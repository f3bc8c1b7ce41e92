import { parseAssignment } from '../../cli/assignment.ts'
import type { ParsedOptions } from '../../cli/command.ts'
import type { Host } from '../../cli/host.ts'
import { readNamedText, readStream, toText, unreadable } from '../../cli/named-file.ts'
import type { JsonObject } from '../../core/base/message.ts'

/** The changes requested by the options of `agent create` and `agent edit`: a JSON merge patch and a prompt. */
export interface AgentChanges {
  patch: JsonObject
  prompt: string | undefined
}

/** Reads those options; undefined when none of them was given. */
export async function readAgentChanges(
  options: ParsedOptions,
  host: Host,
  signal: AbortSignal,
): Promise<AgentChanges | undefined> {
  const { value, has, values } = options
  if (!['description', 'model', 'prompt', 'set'].some(has)) return undefined
  const patch: JsonObject = {}
  for (const assignment of values('set')) {
    Object.assign(patch, parseAssignment(assignment, SET))
  }
  const description = value('description')
  const model = value('model')
  if (description !== undefined) patch['description'] = description
  if (model !== undefined) patch['model'] = model === '' ? null : model
  return { patch, prompt: await readPrompt(value('prompt'), host, signal) }
}

const SET = { what: '--set', example: '--set max_iterations=30' }

async function readPrompt(
  promptOption: string | undefined,
  host: Host,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (promptOption === undefined || !promptOption.startsWith('@')) return promptOption
  if (promptOption !== '@-')
    return readNamedText({ path: promptOption.slice(1), purpose: ' for --prompt' }, host, signal)
  try {
    return toText(await readStream(host.stdin(), STDIN), STDIN)
  } catch (cause) {
    throw unreadable(`${STDIN} for --prompt`, cause, 'pipe the prompt into it')
  }
}

const STDIN = 'standard input'
