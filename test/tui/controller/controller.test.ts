import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toCancelledError } from '../../../src/core/base/abortable.ts'
import { OnAsk } from '../../../src/core/protocol/crabtalk.generated.ts'
import { request } from '../../../src/core/protocol/dispatch.ts'
import { toSections } from '../../../src/tui/components/sections.ts'
import type { ChatPorts } from '../../../src/tui/ports.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { openTestChat } from '../../support/open-chat.ts'

test('Enter sends the typed text', async () => {
  await using chat = await openTestChat([{ parts: ['Hi.'] }])
  chat.type('hello')
  chat.press('enter')
  await chat.idle()
  assert.deepEqual(chat.words(), ['user: hello', 'answer: Hi.'])
  assert.equal(chat.state().prompt.text, '')
  assert.equal(chat.controller.context().isBusy, false)
})

test('Controller.context() belongs to the drawn state, which may be older than the current one', async () => {
  await using chat = await openTestChat([{ parts: ['Hi.'] }])
  chat.type('hello')
  chat.press('enter')
  const drawn = chat.state()
  await chat.idle()
  assert.equal(chat.controller.context(drawn).isBusy, true)
  assert.equal(chat.controller.context().isBusy, false)
})

test('a line that starts with / never reaches the model', async () => {
  await using chat = await openTestChat([])
  chat.type('/nosuchthing at all')
  chat.press('enter')
  await chat.until(({ finished }) => finished.length > 0)
  assert.match(chat.words().join('\n'), /nosuchthing/)
  assert.equal(chat.node.server.requests.length, 0)
})

test('a line that starts with ! is run, printed, and sent with the next message', async () => {
  const runShell = async (line: string) => ({ output: `ran ${line}`, exitCode: 3 })
  await using chat = await openTestChat([{ parts: ['I see.'] }], { ports: { runShell } })
  chat.type('!make it')
  chat.press('enter')
  await chat.until(({ finished }) => finished.length > 1)
  assert.deepEqual(chat.blocks(), [
    { kind: 'output', title: '$ make it' },
    { kind: 'output', title: 'exit 3', text: 'ran make it' },
  ])
  chat.type('why?')
  chat.press('enter')
  await chat.idle()
  const requestText = chat.node.server.requests[0]?.text ?? ''
  assert.match(requestText, /<shell command=.{0,9}make it.{0,12}3.{0,4}>.{0,4}ran make it/)
})

test('the output of a shell line is shown while it runs', async () => {
  const gate = Promise.withResolvers<void>()
  const runShell: ChatPorts['runShell'] = async (_line, onOutput) => {
    onOutput('one\ntwo\n')
    await gate.promise
    return { output: 'one\ntwo\nthree\n', exitCode: 0 }
  }
  await using chat = await openTestChat([], { ports: { runShell } })
  chat.type('!count')
  chat.press('enter')
  await chat.until(({ shellOutput }) => shellOutput === 'one\ntwo\n')
  const view = { columns: 20, rows: 24, color: false, details: false }
  const place = { shownCwd: '~', abbreviate: (path: string) => path }
  const shown = toSections(chat.state(), {
    view,
    location: place,
    context: chat.controller.context(),
    now: 0,
  })
  assert.deepEqual(shown.flatMap(({ lines }) => lines).slice(0, 3), ['', '  one', '  two'])
  gate.resolve()
  await chat.until(({ shellOutput, finished }) => shellOutput === '' && finished.length > 1)
})

test('a long output is printed without its middle, and the agent gets all of it', async () => {
  const output = Array.from({ length: 500 }, (_, at) => `line ${at}`).join('\n')
  const runShell = async () => ({ output, exitCode: 0 })
  await using chat = await openTestChat([{ parts: ['I see.'] }], { ports: { runShell } })
  chat.type('!seq 500')
  chat.press('enter')
  await chat.until(({ finished }) => finished.length > 1)
  const printed = chat.words().at(-1)!
  assert.ok(printed.split('\n').length < 50 && printed.includes('line 0') && printed.includes('line 499'))
  chat.type('so?')
  chat.press('enter')
  await chat.idle()
  assert.ok(chat.node.server.requests[0]?.text.includes('line 250'))
})

test('shell output of one conversation is not sent to another', async () => {
  const runShell = async () => ({ output: 'SECRET=1', exitCode: 0 })
  await using chat = await openTestChat([{ parts: ['Hi.'] }], { ports: { runShell } })
  chat.type('!cat .env')
  chat.press('enter')
  chat.type('/new')
  chat.press('enter')
  chat.type('hello')
  chat.press('enter')
  await chat.until(({ usage }) => usage.turns === 1)
  assert.doesNotMatch(chat.node.server.requests[0]?.text ?? '', /SECRET/)
})

test('Tab queues a skill until the end of the turn; a command returns to the prompt', async () => {
  const gate = Promise.withResolvers<void>()
  await using chat = await openTestChat([{ parts: ['One', gate.promise] }, { parts: ['Reviewed.'] }])
  await chat.node.home.write(
    'skills/review/SKILL.md',
    '---\nname: review\ndescription: Reviews\n---\nReview it.\n',
  )
  chat.type('hello')
  chat.press('enter')
  await chat.until(({ open }) => open !== undefined)
  chat.type('/status')
  chat.press('tab')
  await chat.until(({ hint }) => /cannot be queued/.test(hint))
  assert.equal(chat.state().prompt.text, '/status')
  chat.press('text', { text: 'u', ctrl: true })
  chat.type('/review src/a.ts')
  chat.press('tab')
  await chat.until(({ queue }) => queue.length === 1)
  gate.resolve()
  await chat.idle()
  assert.deepEqual(chat.words().slice(-2), ['user: /review src/a.ts', 'answer: Reviewed.'])
})

test('a message that Tab queues after a skill stays after it', async () => {
  await using chat = await openTestChat([{ parts: ['One', new Promise<void>(() => {})] }])
  const skill = '---\nname: review\ndescription: Reviews\n---\nReview it.\n'
  await chat.node.home.write('skills/review/SKILL.md', skill)
  chat.type('hello')
  chat.press('enter')
  await chat.until(({ open }) => open !== undefined)
  chat.type('/review src/a.ts')
  chat.press('tab')
  chat.type('and then?')
  chat.press('tab')
  await chat.until(({ queue }) => queue.length === 2)
  assert.deepEqual(chat.state().queue, ['/review src/a.ts', 'and then?'])
})

test('a path is a message, not a command', async () => {
  await using chat = await openTestChat([{ parts: ['I see.'] }])
  chat.type('/tmp/foo is a path')
  chat.press('enter')
  await chat.idle()
  assert.deepEqual(chat.words(), ['user: /tmp/foo is a path', 'answer: I see.'])
})

test('an image on the clipboard becomes a label in the prompt, and is sent with the message', async () => {
  const paste = async () => ({ name: 'shot.png', mediaType: 'image/png', data: PIXEL })
  await using chat = await openTestChat([{ parts: ['A pixel.'] }], { ports: { paste } })
  chat.press('text', { text: 'v', ctrl: true })
  await chat.until(({ prompt }) => prompt.text !== '')
  chat.type(' what is this?')
  chat.press('enter')
  await chat.idle()
  assert.deepEqual(chat.blocks()[0], {
    kind: 'user',
    text: '[Image 1] what is this?',
    how: 'sent',
    files: ['shot.png'],
  })
  assert.ok(chat.node.server.requests[0]?.text.includes(Buffer.from(PIXEL).toString('base64')))
})

test('Shift+Tab cycles through the modes, and the turn uses the one that is shown', async () => {
  const call = { call: 'c1', name: 'bash', args: '{"command":"touch hi"}' }
  await using chat = await openTestChat([{ parts: [call] }, { parts: ['Done.'] }])
  const modes = Array.from({ length: 4 }, () => {
    chat.press('tab', { shift: true })
    return chat.state().mode
  })
  assert.deepEqual(modes, ['edits', 'plan', 'ask', 'edits'])
  chat.press('tab', { shift: true })
  chat.type('go')
  chat.press('enter')
  await chat.idle()
  const tool = chat.blocks().find((block) => block.kind === 'tool')
  assert.equal(tool?.kind === 'tool' && tool.tool.state, 'denied')
})

test('text that is typed while a question waits is sent to the running turn; a digit and Enter, each after a pause, answer', async () => {
  const call = { call: 'c1', name: 'bash', args: '{"command":"touch hi"}' }
  const clock = new ManualClock()
  await using chat = await openTestChat([{ parts: [call] }, { parts: ['Done.'] }], { timer: clock.timer })
  chat.type('go')
  chat.press('enter')
  await chat.until(({ asks }) => asks.length === 1)
  clock.advance(5_000)
  chat.type('yes please')
  chat.press('enter')
  await chat.until(({ steers }) => steers.length === 1)
  chat.type('1')
  chat.press('backspace')
  clock.advance(599)
  chat.type('1')
  assert.equal(chat.state().prompt.text, '1')
  chat.press('backspace')
  clock.advance(600)
  chat.type('1')
  assert.equal(chat.state().prompt.text, '')
  clock.advance(600)
  chat.press('enter')
  await chat.idle()
  const tool = chat.blocks().find((block) => block.kind === 'tool')
  assert.equal(tool?.kind === 'tool' && tool.tool.state, 'done')
  assert.equal(chat.state().prompt.text, '')
})

test('a card must be visible for a second, and again after it was covered or the terminal was resized', async () => {
  const call = { call: 'c1', name: 'bash', args: '{"command":"touch hi"}' }
  const clock = new ManualClock()
  await using chat = await openTestChat([{ parts: [call] }, { parts: ['Done.'] }], { timer: clock.timer })
  const isArmed = () => chat.state().asks[0]?.isArmed
  chat.type('go')
  chat.press('enter')
  await chat.until(({ asks }) => asks.length === 1)
  clock.advance(999)
  assert.equal(isArmed(), false)
  clock.advance(1)
  assert.equal(isArmed(), true)
  chat.controller.resized({ columns: 80, rows: 24 })
  chat.controller.resized({ columns: 40, rows: 15 })
  assert.equal(isArmed(), false)
  clock.advance(1_000)
  assert.equal(isArmed(), true)
  chat.type('/help')
  chat.press('enter')
  await chat.until(({ overlay }) => overlay !== undefined)
  assert.equal(isArmed(), false)
  clock.advance(5_000)
  assert.equal(isArmed(), false)
  chat.press('escape')
  await chat.until(({ overlay }) => overlay === undefined)
  clock.advance(999)
  assert.equal(isArmed(), false)
  clock.advance(1)
  assert.equal(isArmed(), true)
})

test('text after "No, and tell the agent why" goes to the agent as the reason; Esc keeps it as a draft', async () => {
  const calls = ['c1', 'c2'].map((call) => ({ call, name: 'bash', args: '{"command":"touch hi"}' }))
  const clock = new ManualClock()
  await using chat = await openTestChat([{ parts: calls }, { parts: ['Done.'] }], { timer: clock.timer })
  chat.type('go')
  chat.press('enter')
  await chat.until(({ asks }) => asks.length === 1)
  const [first] = chat.state().asks
  clock.advance(1_000)
  chat.type('5')
  clock.advance(600)
  chat.press('enter')
  chat.type('/use pnpm')
  chat.press('escape')
  assert.equal(chat.state().prompt.text, '/use pnpm')
  chat.press('text', { text: 'u', ctrl: true })
  clock.advance(600)
  chat.type('5')
  clock.advance(600)
  chat.press('enter')
  chat.type('/use pnpm')
  chat.press('enter')
  await chat.until(({ asks }) => asks.length === 1 && asks[0] !== first && asks[0]?.askId !== first?.askId)
  clock.advance(1_000)
  chat.press('escape')
  await chat.idle()
  const denials = chat.blocks().flatMap((block) => (block.kind === 'tool' ? [block.tool.denial?.reason] : []))
  assert.deepEqual(denials, ['the user said no: /use pnpm', 'the user said no'])
})

test('a question of another conversation is one line that takes no keys', async () => {
  const call = { call: 'c1', name: 'bash', args: '{"command":"touch hi"}' }
  const clock = new ManualClock()
  await using chat = await openTestChat([{ parts: [call] }, { parts: ['Mine.'] }], { timer: clock.timer })
  await chat.controller.open(chat.follow())
  const message = {
    agent: 'crab',
    sender: 'night',
    content: 'go',
    detach: true,
    options: { onAsk: OnAsk.PARK },
  }
  await request(chat.node.dispatch, 'send', message, new AbortController().signal)
  await chat.until(({ asks }) => asks.length === 1)
  const view = { columns: 80, rows: 24, color: false, details: false }
  const shown = () =>
    toSections(chat.state(), {
      view,
      location: { shownCwd: '~', abbreviate: (path: string) => path },
      context: chat.controller.context(),
      now: 0,
    })
      .flatMap(({ lines }) => lines)
      .join('\n')
  assert.match(shown(), /^ {2}crab asks in "night": \/asks$/m)
  assert.doesNotMatch(shown(), /Run a command|Yes/)
  clock.advance(10_000)
  for (const digit of ['1', '3']) {
    chat.type(digit)
    clock.advance(10_000)
    chat.press('enter')
    clock.advance(10_000)
  }
  await chat.idle()
  assert.equal(chat.state().asks.length, 1)
  assert.deepEqual(chat.words().slice(0, 1), ['user: 1'])
})

test('Tab does not queue a command; it returns to the prompt', async () => {
  await using chat = await openTestChat([{ parts: ['Once', new Promise<void>(() => {})] }])
  chat.type('tell me')
  chat.press('enter')
  await chat.until(({ open }) => open !== undefined)
  chat.type('/status')
  chat.press('escape')
  chat.press('text', { text: ' ' })
  chat.press('tab')
  await chat.until(({ prompt }) => /^\/status/.test(prompt.text))
  assert.deepEqual(chat.state().queue, [])
})

test('Esc interrupts a turn; Ctrl+C twice leaves', async () => {
  await using chat = await openTestChat([{ parts: ['Once', new Promise<void>(() => {})] }])
  chat.type('tell me')
  chat.press('enter')
  await chat.until(({ open }) => open !== undefined)
  chat.press('escape')
  await chat.idle()
  assert.deepEqual(chat.words().at(-1), 'notice: Interrupted')
  chat.press('text', { text: 'c', ctrl: true })
  assert.equal(chat.state().isLeaving, false)
  chat.press('text', { text: 'c', ctrl: true })
  assert.equal(chat.state().isLeaving, true)
})

test('Esc stops a command of the chat, and what it printed is shown below its line', async () => {
  const runShell: ChatPorts['runShell'] = (_line, onOutput, signal) =>
    new Promise<never>((_, reject) => {
      onOutput('half of it\n')
      signal.addEventListener('abort', () => reject(toCancelledError(signal)), { once: true })
    })
  await using chat = await openTestChat([{ parts: ['Hi.'] }], { ports: { runShell } })
  chat.type('!sleep 100')
  chat.press('enter')
  chat.press('escape')
  await chat.until(({ isCommanding }) => !isCommanding)
  assert.deepEqual(chat.words(), ['output: …\nhalf of it', 'notice: Interrupted'])
  assert.equal(chat.state().shellOutput, '')
  for (const line of ['!sleep 200', '!sleep 300']) {
    chat.type(line)
    chat.press('enter')
  }
  chat.press('escape')
  await chat.until(() => chat.blocks().length === 7)
  chat.press('escape')
  await chat.until(({ isCommanding }) => !isCommanding)
  const names = chat.blocks().map((block) => (block.kind === 'output' ? block.title : block.kind))
  assert.deepEqual(names.slice(3, 7), ['$ sleep 200', '$ sleep 300', '', 'notice'])
  assert.deepEqual(names.slice(7), ['$ sleep 200', '', 'notice'])
})

test('an error in a key handler is shown', async () => {
  const paste = async () => {
    throw new Error('the clipboard is on fire')
  }
  await using chat = await openTestChat([], { ports: { paste } })
  chat.press('text', { text: 'v', ctrl: true })
  await chat.until(({ finished }) => finished.length > 0)
  assert.match(chat.words().join('\n'), /on fire/)
})

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

test('everything is allowed only by /yolo, after a yes, and Shift+Tab ends it', async () => {
  await using chat = await openTestChat([])
  for (const [answer, mode] of [
    ['no', 'ask'],
    ['yes', 'all'],
  ] as const) {
    chat.type('/yolo')
    chat.press('enter')
    await chat.until(({ overlay }) => overlay?.kind === 'picker')
    chat.controller.do({ type: 'chosen', picker: 'yolo', value: answer })
    chat.press('escape')
    await chat.until((state) => state.mode === mode && state.overlay === undefined)
  }
  chat.press('tab', { shift: true })
  assert.equal(chat.state().mode, 'ask')
})
