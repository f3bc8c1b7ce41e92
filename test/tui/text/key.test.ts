import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { render, useInput, usePaste } from 'ink'
import { createElement } from 'react'
import { type KeyPress, toKeyPresses, toPaste } from '../../../src/tui/text/key.ts'
import { toChord } from '../../../src/tui/text/key-command.ts'
import { until } from '../../support/until.ts'

/** The bytes that a terminal sends in one piece, and the keys they mean; text is quoted. */
const SENT: [string, string[]][] = [
  ['a', ['"a"']],
  ['A', ['"A"']],
  ['é', ['"é"']],
  ['漢字', ['"漢字"']],
  ['👩‍👩‍👧‍👦', ['"👩‍👩‍👧‍👦"']],
  ['yes\rno\r', ['"yes"', 'enter', '"no"', 'enter']],
  ['a\tb', ['"a"', 'tab', '"b"']],
  ['ab\x7f\x7f\x7f', ['"ab"', 'backspace', 'backspace', 'backspace']],
  ['x\x01y', ['"x"', 'ctrl+a', '"y"']],
  ['x\x03', ['"x"', 'ctrl+c']],
  ['\r', ['enter']],
  ['\n', ['ctrl+j']],
  ['\x1b\r', ['alt+enter']],
  ['\x1b[13;2u', ['shift+enter']],
  ['\x1b[13;5u', ['ctrl+enter']],
  ['\x1b[27;2;13~', []],
  ['\x1b[106;5u', ['ctrl+j']],
  ['\x1b[109;5u', ['enter']],
  ['\t', ['tab']],
  ['\x1b[Z', ['shift+tab']],
  ['\x7f', ['backspace']],
  ['\b', ['backspace']],
  ['\x1b\x7f', ['alt+backspace']],
  ['\x1b[127;5u', ['ctrl+backspace']],
  ['\x1b[3~', ['delete']],
  ['\x1b[3;5~', ['ctrl+delete']],
  ['\x1b', ['escape']],
  ['\x1b\x1b', ['escape', 'escape']],
  ['\x1b[27u', ['escape']],
  ['\x1b[A', ['up']],
  ['\x1bOA', ['up']],
  ['\x1b[1;3A', ['alt+up']],
  ['\x1b\x1b[A', ['alt+up']],
  ['\x1b[1;5D', ['ctrl+left']],
  ['\x1b[1;3C', ['alt+right']],
  ['\x1bb', ['alt+b']],
  ['\x1b[98;3u', ['alt+b']],
  ['\x1b<', ['alt+<']],
  ['\x1b[H', ['home']],
  ['\x1b[4~', ['end']],
  ['\x1b[5~', ['page-up']],
  ['\x1f', ['ctrl+_']],
  ['\x1b[95;5u', ['ctrl+_']],
  ['\x1b_', ['alt+_']],
  ['\x1a', ['ctrl+z']],
  ['\x1b[97;1:3u', []],
  ['\x1b[97;9u', []],
  ['\x1b[15~', []],
  ['\x1b[?62;4c', []],
  ['\x1b[200~a\r\nb\rc\x1b[201~', ['paste "a\\nb\\nc"']],
]

test("toKeyPresses() interprets what Ink makes of a terminal's keys", async () => {
  await using terminal = openTerminal()
  for (const [sent, keys] of SENT) {
    assert.deepEqual(await terminal.press(sent), keys, JSON.stringify(sent))
  }
})

/** Opens a terminal with Ink on it that reports the keys it receives. */
function openTerminal() {
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode() {}, ref() {}, unref() {} })
  const stdout = Object.assign(new PassThrough(), { isTTY: true, columns: 80, rows: 24 })
  stdout.resume()
  const received: string[] = []
  const receive = (key: KeyPress) => received.push(formatKey(key))
  const Listener = () => {
    useInput((input, key) => toKeyPresses(input, key).forEach(receive))
    usePaste((text) => receive(toPaste(text)))
    return null
  }
  const app = render(createElement(Listener), {
    stdin: stdin as unknown as NodeJS.ReadStream,
    stdout: stdout as unknown as NodeJS.WriteStream,
    exitOnCtrlC: false,
    patchConsole: false,
  })
  return {
    /** The marker after it shows that everything was received; a lone Esc is received after a moment. */
    async press(sent: string): Promise<string[]> {
      const isOpen = sent === '\x1b' || sent === '\x1b\x1b'
      stdin.write(sent)
      if (isOpen) await until('Esc is heard', () => received.length > 0)
      stdin.write('\x1d')
      await until('the mark is heard', () => received.includes('ctrl+]'))
      return received.splice(0).filter((key) => key !== 'ctrl+]')
    },
    async [Symbol.asyncDispose]() {
      app.unmount()
      await app.waitUntilExit()
    },
  }
}

function formatKey(key: KeyPress): string {
  if (key.name === 'paste') return `paste ${JSON.stringify(key.text)}`
  const isTyped = key.name === 'text' && !key.ctrl && !key.alt
  return isTyped ? JSON.stringify(key.text) : toChord(key)
}
