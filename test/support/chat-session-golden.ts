import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { Session } from './chat-session.ts'

const FOLDER = resolve(import.meta.dirname, '../golden/chat')

/** Compares a screen with the stored one; `npm run golden` rewrites the files. */
export async function assertGolden(name: string, pictures: readonly (readonly string[])[]): Promise<void> {
  await assertGoldenText(
    name,
    pictures.map((lines) => withoutDurations(lines).map(stable)),
  )
}

/** Compares pictures with the stored ones as they are, without replacing what differs between runs. */
export async function assertGoldenText(
  name: string,
  pictures: readonly (readonly string[])[],
): Promise<void> {
  const path = join(FOLDER, `${name}.txt`)
  const text = pictures
    .map((lines) => `${lines.join('\n').replaceAll('\u001b', '␛').trimEnd()}\n`)
    .join(`\n${'═'.repeat(8)}\n`)
  if (process.env['CRABTALK_GOLDEN'] === 'write') {
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, text)
    return
  }
  const expected = await readFile(path, 'utf8').catch(() => '')
  assert.equal(text, expected, `${name}.txt shows something else; npm run golden writes it anew`)
}

/**
 * Waits for a frame that shows all of these texts, and returns it. A golden screen must not depend on when it is
 * taken: name everything that it has to show, such as what the turn does.
 */
export async function captureScreen(chat: Session, ...texts: readonly string[]): Promise<readonly string[]> {
  let shown: readonly string[] = []
  await chat.shows((screen) => {
    shown = screen.lines()
    return texts.every((text) => shown.some((line) => line.includes(text)))
  })
  return shown
}

/** Leaves out the duration of a turn, which only slow runs show, and the empty line before it. */
function withoutDurations(lines: readonly string[]): readonly string[] {
  const isDuration = (line: string | undefined) => /^(?:\d+ m )?\d+ s$/.test(line ?? '')
  return lines.filter((line, at) => !isDuration(line) && !(line === '' && isDuration(lines[at + 1])))
}

/**
 * Replaces what differs between runs with text of the same width: names of temporary folders, times, and
 * spinners.
 */
function stable(line: string): string {
  return line
    .replaceAll(/(?<=crab box )\w+/g, (name) => 'X'.repeat(name.length))
    .replaceAll(/\b\d+(\.\d+)? ?m?s\b/g, '0 ms')
    .replace(/^(✓.*) · 0 ms$/, '$1') // the duration that slow steps show
    .replaceAll(/[⠁-⣿]/g, '⠿')
}
