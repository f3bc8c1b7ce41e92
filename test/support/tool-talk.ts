import assert from 'node:assert/strict'
import type { RecordedRequest, Script } from './model-server.ts'
import type { Part } from './model-wire.ts'
import { makeTalk, type Talk } from './talk.ts'

/** A tool call of a scripted model. */
export type ToolCall = readonly [name: string, args: object]

/** A sandbox whose model makes calls, one per step, and then answers `Done.` */
export interface ToolTalk extends Talk {
  /** Runs one turn in which the model makes these calls, each in its own step; returns the result of each. */
  act(
    calls: readonly ToolCall[],
    args?: readonly string[],
    options?: Parameters<Talk['send']>[1],
  ): Promise<string[]>
}

/** Creates a sandbox for turns with tool calls; concurrent turns must make the same calls. */
export async function makeToolTalk(): Promise<ToolTalk> {
  let calls: readonly ToolCall[] = []
  const script: Script = (request) => {
    const next = calls[answersIn(request).length]
    return { parts: [next === undefined ? 'Done.' : toPart(next)] }
  }
  const talk = await makeTalk(script)
  return {
    ...talk,
    async act(given, args = [], options = {}) {
      calls = given
      const { stdout, stderr } = await talk.send([...args, 'go'], options)
      assert.equal(stdout, 'Done.\n', stderr)
      const whole = (request: RecordedRequest) => answersIn(request).length === given.length
      return answersIn(talk.server.requests.findLast(whole)!) // the very last request may be the first one of another turn
    },
  }
}

/** Returns the tool results of the current turn. */
export function answersIn({ json }: RecordedRequest): string[] {
  const messages = json['messages'] as { role: string; content: string }[]
  const own = messages.slice(messages.findLastIndex(({ role }) => role === 'user'))
  return own.filter(({ role }) => role === 'tool').map(({ content }) => content)
}

function toPart([name, args]: ToolCall): Part {
  return { call: `call_${name}`, name, args: JSON.stringify(args) }
}
