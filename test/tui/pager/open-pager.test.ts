import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { SessionMessage } from '../../../src/core/protocol/crabtalk.generated.ts'
import { route } from '../../../src/core/protocol/dispatch.ts'
import { openPager } from '../../../src/tui/pager/open-pager.ts'
import { makeVirtualTerminal } from '../../support/screen.ts'
import { until } from '../../support/until.ts'

const ESC = '\u001b'

test('openPager() shows the end on the alternate screen, and restores the terminal', async () => {
  await using pager = await open(numbered(1_000))
  await pager.shows(/answer 999\b/)
  await pager.shows(/^Title · 100% · q back · /)
  pager.type('q')
  await pager.closed
  await pager.terminal.settled()
  assert.deepEqual(pager.terminal.lines().slice(0, 2), ['above', ''])
  assert.deepEqual(pager.raw, [true, false])
  assert.ok(pager.bytes().endsWith(`${ESC}[?1049l${ESC}[?25h`))
})

test('openPager() scrolls by lines, pages and half pages, from end to end', async () => {
  await using pager = await open(numbered(500))
  await pager.shows(/answer 499\b/)
  const last = () => pager.lines().findLast((line) => line.startsWith('answer'))
  const first = () => pager.lines().find((line) => line.startsWith('answer'))
  await pager.press('g')
  assert.deepEqual([first(), pager.lines()[1]], ['answer 1', '▌ question 0'])
  await pager.press('j', 'j')
  assert.equal(pager.lines()[1], 'answer 1')
  await pager.press('k', 'k', 'k', 'k')
  assert.equal(pager.lines()[1], '▌ question 0')
  await pager.press(' ')
  assert.equal(first(), 'answer 11')
  await pager.press('d', 'u', `${ESC}[5~`)
  assert.equal(first(), 'answer 1')
  await pager.press(`${ESC}[F`)
  assert.equal(last(), 'answer 499')
  await pager.press('j', ' ')
  assert.equal(last(), 'answer 499', 'there is nothing behind the end')
})

test('openPager() finds words in both directions, also in pages that are not loaded yet, and says when nothing matches', async () => {
  await using pager = await open(numbered(900))
  await pager.shows(/answer 899\b/)
  await pager.press('/', ...'ANSWER 41', '\u007f', '1', '\r')
  assert.equal(pager.lines()[0], 'answer 41')
  await pager.press('n')
  assert.equal(pager.lines()[0], 'answer 411')
  await pager.press('N', 'N')
  assert.equal(pager.lines()[0], 'answer 419', 'it goes round')
  await pager.press('/', ...'nowhere', '\r')
  assert.equal(pager.lines().at(-1), 'not found: nowhere')
  await pager.press('/', ...'x', ESC)
  assert.match(pager.lines().at(-1) ?? '', /^Title/)
})

test('openPager() shows arguments and outputs of tools, with their control sequences escaped', async () => {
  const call = { callId: 'c', name: 'bash', arguments: '{"command":"ls -la /tmp"}', server: '' }
  const messages = [
    message({ role: 'user', content: `look${ESC}[2J` }),
    message({ role: 'assistant', content: '', toolCalls: [call] }),
    message({ role: 'tool', toolCallId: 'c', content: `total 0${ESC}]0;title\u0007\nfile one\nfile two` }),
  ]
  await using pager = await open(messages)
  await pager.shows(/ls -la \/tmp/)
  await pager.shows(/file one/)
  await pager.shows(/file two/)
  assert.doesNotMatch(pager.bytes(), /\[2J|\]0;/)
})

test('openPager() shows a long output of a tool to its end', async () => {
  const call = { callId: 'c', name: 'bash', arguments: '{"command":"seq 500"}', server: '' }
  const output = Array.from({ length: 500 }, (_, at) => `count ${at + 1}`).join('\n')
  await using pager = await open([
    message({ role: 'user', content: 'count' }),
    message({ role: 'assistant', content: '', toolCalls: [call] }),
    message({ role: 'tool', toolCallId: 'c', content: output }),
  ])
  await pager.shows(/count 500/)
  await pager.press('/', ...'count 250', '\r')
  assert.match(pager.lines()[0] ?? '', /count 250$/)
})

test('openPager() draws everything when the terminal is resized, otherwise only the changed rows', async () => {
  await using pager = await open(numbered(100))
  await pager.shows(/answer 99\b/)
  pager.resize(40, 10)
  await pager.shows((lines) => lines.length === 10 && lines.some((line) => line.startsWith('answer')))
  const before = pager.bytes().length
  await pager.press('/', 'a')
  assert.ok(pager.bytes().length - before < 120, 'typing draws the last row')
})

test('openPager() opens an editor on the whole conversation, with the terminal restored', async () => {
  await using pager = await open(numbered(300))
  await pager.shows(/answer 299\b/)
  await pager.press('v')
  assert.match(pager.edited()[0] ?? '', /^▌ question 0\n\nanswer 1\n/)
  assert.match(pager.edited()[0] ?? '', /\nanswer 299\n$/)
  assert.deepEqual(pager.raw, [true, false, true])
  assert.match(pager.lines().join('\n'), /answer 299/)
})

test('openPager() says why older messages cannot be loaded, and shows those it has', async () => {
  await using pager = await open(numbered(300), { fails: true })
  await pager.shows(/answer 299\b/)
  await pager.press('g')
  assert.match(pager.lines().join('\n'), /answer 101\b/)
})

test('openPager() does not take the terminal back when its editor ends after it was closed', async () => {
  const editor = Promise.withResolvers<void>()
  await using pager = await open(numbered(100), { editText: () => editor.promise })
  await pager.shows(/answer 99\b/)
  pager.type('v')
  await until('the editor has the terminal', () => pager.raw.length === 2)
  pager.end()
  await pager.closed
  const bytes = pager.bytes()
  editor.resolve()
  await new Promise(setImmediate)
  assert.equal(pager.bytes(), bytes)
  assert.deepEqual(pager.raw, [true, false])
})

test('openPager() handles further keys after one that failed, and says why it failed', async () => {
  await using pager = await open(numbered(100))
  await pager.shows(/answer 99\b/)
  pager.failOnce()
  await pager.press('g')
  assert.match(pager.lines().at(-1) ?? '', /no room on the terminal/)
  await pager.press('j')
  assert.match(pager.lines().at(-1) ?? '', /^Title/)
  pager.type('q')
  await pager.closed
})

function numbered(count: number): SessionMessage[] {
  return Array.from({ length: count }, (_, at) =>
    at % 2 === 0
      ? message({ role: 'user', content: `question ${at}` })
      : message({ role: 'assistant', content: `answer ${at}` }),
  )
}

function message(more: Partial<SessionMessage>): SessionMessage {
  return SessionMessage.fromPartial(more)
}

/** Opens a pager over these messages, on a virtual terminal of 24 rows. */
async function open(
  messages: readonly SessionMessage[],
  { fails = false, editText = async (_text: string): Promise<void> => {} } = {},
) {
  const terminal = makeVirtualTerminal({ columns: 80, rows: 24 })
  await terminal.feed('above\r\n')
  const dispatch = route({
    async listMessages({ offset, limit }) {
      if (fails && offset === 0 && limit > 1) throw new Error('the disk is gone')
      return { messages: messages.slice(offset, offset + limit), total: messages.length }
    },
  })
  const raw: boolean[] = []
  const edited: string[] = []
  let bytes = ''
  let resized = () => {}
  let isFailing = false
  const keyboard = new PassThrough()
  const input = Object.assign(keyboard, {
    setRawMode: (isRaw: boolean) => raw.push(isRaw),
    ref() {},
    unref() {},
  })
  const output = {
    write(text: string) {
      if (isFailing) {
        isFailing = false
        throw new Error('no room on the terminal')
      }
      bytes += text
      void terminal.feed(text)
    },
    size: () => ({ columns: terminal.columns, rows: terminal.rows }),
    onResize(listener: () => void) {
      resized = listener
      return { [Symbol.dispose]() {} }
    },
  }
  const stop = new AbortController()
  const closed = openPager(
    {
      dispatch,
      session: 's',
      title: 'Title',
      look: { color: true },
      input,
      output,
      editText(text) {
        edited.push(text)
        return editText(text)
      },
    },
    stop.signal,
  )
  const lines = () => terminal.lines()
  const shows = (what: RegExp | ((lines: string[]) => boolean)) =>
    until(`the pager shows ${what}`, () =>
      typeof what === 'function' ? what(lines()) : lines().some((line) => what.test(line)),
    )
  return {
    terminal,
    closed,
    raw,
    lines,
    shows,
    bytes: () => bytes,
    edited: () => edited,
    /** Makes the next write fail. */
    failOnce() {
      isFailing = true
    },
    end: () => stop.abort(),
    type: (keys: string) => void keyboard.write(keys),
    /** Resolves when the keys have had their effect. */
    async press(...keys: string[]) {
      for (const key of keys) {
        keyboard.write(key)
        await new Promise(setImmediate)
      }
      await until('everything is loaded', () => !lines().at(-1)?.includes('loading'))
      await new Promise(setImmediate)
      await terminal.settled()
    },
    resize(columns: number, rows: number) {
      terminal.resize(columns, rows)
      resized()
    },
    async [Symbol.asyncDispose]() {
      stop.abort()
      await closed
      terminal[Symbol.dispose]()
    },
  }
}
