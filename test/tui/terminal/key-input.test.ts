import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { completeHeld, type HeldInput, splitBursts } from '../../../src/tui/terminal/key-bursts.ts'
import { joinKeyInput } from '../../../src/tui/terminal/key-input.ts'

const SEQUENCES = [
  '\u001b[A',
  '\u001bOP',
  '\u001b[1;5C',
  '\u001b[3~',
  '\u001b[27;5;13~',
  '\u001b[[A',
  '\u001b[200~',
]

for (const sequence of SEQUENCES) {
  test(`splitBursts() joins ${JSON.stringify(sequence)}, cut at every byte`, () => {
    for (let cut = 1; cut < sequence.length; cut++) {
      const { passed, held } = feed([sequence.slice(0, cut), sequence.slice(cut)])
      assert.deepEqual({ passed, held }, { passed: ['', sequence], held: undefined }, `cut after ${cut}`)
    }
    assert.equal(feed([...sequence]).passed.join(''), sequence)
  })
}

test('splitBursts() passes Esc on immediately when it interrupts nothing', () => {
  assert.deepEqual(feed(['\u001b'], { escInterrupts: false }).passed, ['\u001b'])
})

test('splitBursts() passes keys, typed text, a lone Enter and several keys in one read on immediately', () => {
  for (const bytes of ['a', 'hello', '\r', '\u0003', '\u001b[A\u001b[A', 'a\u007f', '\u001b\r', 'ü', '@md'])
    assert.deepEqual(feed([bytes]).passed, [bytes])
})

test('splitBursts() holds lines that arrive together, and completeHeld() marks them as a paste', () => {
  for (const reads of [['one\rtwo\r'], ['one\r', 'two\r'], ['one\rtw', 'o\r'], ['one\r', 't', 'w', 'o\r']]) {
    const { passed, held } = feed(reads)
    assert.equal(passed.join(''), '')
    assert.equal(completeHeld(held!), '\u001b[200~one\rtwo\r\u001b[201~')
  }
})

test('splitBursts() takes an Enter directly after a character for the end of a typed line, unless text follows', () => {
  const { passed, held } = feed(['one', '\r'])
  assert.deepEqual(passed, ['one', ''])
  assert.equal(completeHeld(held!), '\r')
  assert.equal(completeHeld(feed(['one', '\r', 'two']).held!), '\u001b[200~\rtwo\u001b[201~')
  assert.equal(completeHeld(feed(['hello\r']).held!), 'hello\r')
})

test('splitBursts() leaves a paste that the terminal marks alone', () => {
  const paste = ['\u001b[200~one\rtwo\r', 'three\r', 'four\u001b[201~']
  assert.deepEqual(feed(paste, { isInPaste: true }).passed, paste)
})

test('joinKeyInput() delivers a sequence whole, marks lines as a paste, and delivers a lone Esc late', async () => {
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => stdin })
  const keys = joinKeyInput({
    stdin: toTerminal(stdin),
    escInterrupts: () => true,
    elapsed: () => performance.now(),
  })
  const seen: string[] = []
  let wake = Promise.withResolvers<void>()
  const onReadable = () => {
    for (let bytes = keys.read(); bytes !== null; bytes = keys.read()) seen.push(String(bytes))
    wake.resolve()
    wake = Promise.withResolvers()
  }
  keys.on('readable', onReadable)
  stdin.write('\u001b')
  await new Promise(setImmediate)
  const first = wake.promise
  stdin.write('[A')
  await first
  assert.deepEqual(seen, ['\u001b[A'])
  const second = wake.promise
  stdin.write('one\rtwo\r')
  await second
  assert.equal(seen.at(-1), '\u001b[200~one\rtwo\r\u001b[201~')
  const third = wake.promise
  stdin.write('\u001b')
  await third
  assert.equal(seen.at(-1), '\u001b')
  keys.off('readable', onReadable)
  assert.equal(stdin.listenerCount('readable'), 0)
})

test('joinKeyInput() keeps what was read before a listener left for the next one', async () => {
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => stdin })
  const keys = joinKeyInput({ stdin: toTerminal(stdin), escInterrupts: () => true, elapsed: () => 0 })
  const ignore = () => {}
  for (const bytes of ['a', '\u001b']) {
    keys.on('readable', ignore)
    stdin.write(bytes)
    await new Promise(setImmediate)
    keys.off('readable', ignore)
    const woken = Promise.withResolvers<void>()
    keys.on('readable', woken.resolve)
    await woken.promise
    assert.equal(keys.read(), bytes)
    keys.off('readable', woken.resolve)
  }
})

function toTerminal(stream: PassThrough & { isTTY: boolean }): NodeJS.ReadStream {
  return stream as PassThrough & { isTTY: boolean } & NodeJS.ReadStream
}

/** Feeds reads that follow one another within a millisecond. */
function feed(reads: readonly string[], context: { escInterrupts?: boolean; isInPaste?: boolean } = {}) {
  const passed: string[] = []
  let held: HeldInput | undefined
  let sinceTextMs = 1_000
  for (const read of reads) {
    const at = { held, sinceTextMs, isInPaste: false, escInterrupts: true, ...context }
    const split = splitBursts(read, at)
    held = split.held
    if (split.ready !== '') sinceTextMs = 1
    passed.push(split.ready)
  }
  return { passed, held }
}
