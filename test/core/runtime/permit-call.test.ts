import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ToolCall } from '../../../src/core/base/message.ts'
import type { PolicyAction } from '../../../src/core/policy/types.ts'
import { Asks } from '../../../src/core/runtime/asks.ts'
import type { Hook } from '../../../src/core/runtime/hook.ts'
import { runToolCalls } from '../../../src/core/runtime/tool-calls.ts'
import { ruleList } from '../../support/policy-context.ts'
import { collectAnswers, makeToolContext } from '../../support/tool-context.ts'

const NEVER = new AbortController().signal

test('no command that reads files runs parallel to a call that may change files', async () => {
  for (const change of ['ln', 'write', 'mcp']) {
    const lines = [change, 'make', 'cat a', 'cat b']
    const { hook, log } = makeWorld({ blocked: [change] })
    const answers = await collectAnswers(
      runToolCalls(lines.map(toCall), step(makeToolContext(hook, 'all')), NEVER),
    )
    assert.equal(answers.length, 4)
    for (const other of [change, 'make'])
      for (const reading of ['cat a', 'cat b']) assertApart(log, other, reading)
  }
})

test('a line that reads and may change files runs alone', async () => {
  const lines = ['cat a; make', 'touch', 'cat b; make', 'cat c', 'write']
  const { hook, log } = makeWorld({ blocked: ['cat a; make', 'touch', 'cat b; make'] })
  await collectAnswers(runToolCalls(lines.map(toCall), step(makeToolContext(hook, 'all')), NEVER))
  for (const mixed of ['cat a; make', 'cat b; make'])
    for (const other of lines) if (other !== mixed) assertApart(log, mixed, other)
})

test('a line is judged again when a call before it has changed what it reads', async () => {
  const rules = ruleList(['allow bash(ln)', 'allow bash(make)'])
  for (const line of ['cat a', 'cat a; make']) {
    const { hook, log } = makeWorld({ blocked: ['ln'] })
    const calls = ['ln', line].map(toCall)
    const answers = await collectAnswers(
      runToolCalls(calls, step(makeToolContext(hook, 'ask', { rules })), NEVER),
    )
    const [, second] = answers.toSorted((one, other) => one.index - other.index)
    assert.match(
      second!.result.output,
      /^Not permitted: bash: cat a.*: a leads to \/secret, and no one can be asked/,
    )
    assert.ok(!log.includes(`begin ${line}`))
  }
})

test('a line whose meaning changes each time it is judged is refused', async () => {
  let looks = 0
  const describe = async (): Promise<PolicyAction> => toReading('cat a', `${looks++}`)
  const hook: Hook = { describe, dispatch: () => assert.fail('is not reached') }
  const [answer] = await collectAnswers(runToolCalls([toCall('cat a')], step(makeToolContext(hook)), NEVER))
  assert.equal(answer?.result.output, 'Cannot call bash: the file it reads keeps changing')
})

test('no call waits while a user is asked about another, which is judged again after the answer', {
  timeout: 20_000,
}, async () => {
  const rules = ruleList(['allow bash(ln)', 'ask bash(cat *)'])
  const answered = new Asks({ timeoutMs: 60_000 })
  const { hook, log } = makeWorld({ blocked: ['ln'] })
  const calls = ['cat a', 'ln'].map(toCall)
  const setting = makeToolContext(hook, 'ask', { rules, answered })
  const reasons: string[] = []
  const reply = (answer: string) =>
    answered.reply(
      { agent: 'crab', sender: 'ann', trust: 'local' },
      JSON.stringify({ 'Allow bash: cat a?': answer }),
    )
  for await (const event of runToolCalls(calls, step(setting), NEVER)) {
    if (!('type' in event)) {
      if (event.call.arguments.includes('ln')) reply('Allow once')
      else assert.match(event.result.output, /the user said no/)
    } else if (event.type === 'ask') {
      reasons.push(event.ask.permission!.reason)
      if (reasons.length > 1) reply('Deny')
    }
  }
  assert.equal(reasons.length, 2)
  assert.ok(log.includes('end ln') && !log.includes('begin cat a'))
})

/**
 * A file `a` that becomes a link when `ln` runs. A call of `blocked` ends when the other calls had time to
 * start.
 */
function makeWorld({ blocked }: { blocked: readonly string[] }) {
  const log: string[] = []
  let target = 'a'
  const hook: Hook = {
    describe: async (name, { args }) => {
      const line = String(args['command'] ?? name)
      log.push(`look ${line}`)
      if (name === 'write') return { kind: 'edit', path: '/tmp/x', shown: 'x' }
      if (name === 'mcp') return { kind: 'mcp', name, server: 'fs', tool: 'move' }
      return line.startsWith('cat ') ? toReading(line, target) : { kind: 'bash', command: line }
    },
    async dispatch(name, { args }) {
      const line = String(args['command'] ?? name)
      log.push(`begin ${line}`)
      if (blocked.includes(line)) for (let i = 0; i < 10; i++) await new Promise(setImmediate)
      if (line === 'ln') target = '/secret'
      log.push(`end ${line}`)
      return { output: '', isError: false }
    },
  }
  return { hook, log }
}

/** Returns the action of `cat a` or `cat a; make`, where a may lead to /secret. */
function toReading(command: string, target: string): PolicyAction {
  const more = command.includes(';') ? [undefined] : []
  if (target === '/secret') {
    const doubt = { why: 'a leads to /secret', startsPrograms: false }
    return { kind: 'bash', command, readOnly: [undefined, ...more], doubts: [doubt, ...more] }
  }
  return { kind: 'bash', command, readOnly: [{ form: 'cat', paths: [target], trees: [] }, ...more] }
}

/** Fails when two calls overlap, or when a reading one was judged before the other one ended. */
function assertApart(log: readonly string[], one: string, reading: string): void {
  const at = (text: string) => log.lastIndexOf(text)
  const isBefore = at(`end ${reading}`) < at(`begin ${one}`)
  const first = reading.startsWith('cat ') ? 'look' : 'begin'
  const isAfter = at(`end ${one}`) < at(`${first} ${reading}`)
  assert.ok(isBefore || isAfter, `${one} beside ${reading}: ${log.join(', ')}`)
}

/** Returns a call of bash, or of the tools `write` and `mcp`. */
function toCall(line: string): ToolCall {
  const name = line === 'write' || line === 'mcp' ? line : 'bash'
  return { id: line, name, arguments: name === 'bash' ? JSON.stringify({ command: line }) : '{}' }
}

function step(setting: ReturnType<typeof makeToolContext>) {
  const offered = ['bash', 'write', 'mcp'].map((name) => ({ name, description: '', parameters: {} }))
  return { offered, context: setting, offerAgain() {} }
}
