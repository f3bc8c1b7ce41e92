import assert from 'node:assert/strict'
import type { ShownFrame } from './frames.ts'

type Frames = readonly ShownFrame[]

/** Fails unless each frame shows the text once, from the first that shows it. Titles do not count. */
export function assertShownOnce(frames: Frames, words: string): void {
  const counts = frames.map(
    ({ text }) => text.filter((line) => line.includes(words) && !isTitle(line)).length,
  )
  const start = counts.indexOf(1)
  assert.ok(start >= 0, `no frame shows ${words}`)
  const wrong = counts.findIndex((count, at) => at > start && count !== 1)
  if (wrong >= 0) assert.fail(`a frame shows "${words}" ${counts[wrong]} times:\n${around(frames, wrong)}`)
}

/** Fails when a frame offers an idle prompt beside a running turn, or before the end of the last answer. */
export function assertPromptTellsTurn(frames: Frames, lastWords: string): void {
  const first = frames.findIndex(({ screen }) => isWorking(screen))
  frames.forEach(({ screen, text }, at) => {
    if (!isFree(screen) || at < first) return
    if (isWorking(screen))
      assert.fail(`a frame shows an idle prompt and a running turn:\n${around(frames, at)}`)
    if (!text.some((line) => line.includes(lastWords)))
      assert.fail(`a frame shows an idle prompt before the end of the answer:\n${around(frames, at)}`)
  })
}

/** Fails unless the first frame that shows the start of an answer says that it is being written. */
export function assertWrittenWhenShown(frames: Frames, words: string): void {
  const at = frames.findIndex(({ text }) => text.some((line) => line.includes(words)))
  assert.ok(at >= 0, `no frame shows ${words}`)
  const line = findWorking(frames[at]!.screen)
  assert.match(line ?? '', /^\S writing /, `the turn does something else:\n${around(frames, at)}`)
}

/**
 * Fails unless each frame shows a card as a whole, or nothing of it: its title, its choices, its keys and its
 * rule above the composer, while the turn waits for the user. Frames have to be high enough for that.
 */
export function assertCardsWhole(frames: Frames): void {
  const shown = frames.filter(({ screen }) => screen.some(isCardTitle))
  assert.ok(shown.length > 0, 'no frame shows a card')
  frames.forEach(({ screen, text }, at) => {
    const flaw = findCardFlaw(screen) ?? findCardRest(text, screen)
    if (flaw) assert.fail(`a frame shows a card ${flaw}:\n${around(frames, at)}`)
  })
}

/** Whether the prompt invites the user to begin a turn. */
export function isFree(screen: readonly string[]): boolean {
  return screen.some((line) => line.startsWith('> Ask anything'))
}

/** Whether a turn is running. */
export function isWorking(screen: readonly string[]): boolean {
  return findWorking(screen) !== undefined
}

function findWorking(screen: readonly string[]): string | undefined {
  return screen.find((line) => /^[⠁-⣿] .*\d s/.test(line))
}

function findCardFlaw(screen: readonly string[]): string | undefined {
  const titles = screen.filter(isCardTitle).length
  const isWaiting = /^\S waiting for you /.test(findWorking(screen) ?? '')
  if (titles === 0) return isWaiting || screen.some(isCardRow) ? 'without its title' : undefined
  if (titles > 1) return `${titles} times`
  if (!isWaiting) return 'while the turn does something else'
  if (isFree(screen)) return 'beside an idle prompt'
  const rows = screen.slice(screen.findIndex(isCardTitle) + 1)
  const end = rows.findIndex(isRule)
  const card = rows.slice(0, end)
  if (end < 0 || !rows[end + 1]?.startsWith('>')) return 'without its end'
  if (!card.some((row) => LAST_CHOICE.test(row))) return 'without its last choice'
  if (card.at(-1)?.trim() === '' || CHOICE.test(card.at(-1)!)) return 'without its keys'
  return isInOrder(card) ? undefined : 'with its choices in disorder'
}

/** Finds a row of a card in the scrollback, or beside the card on the screen. */
function findCardRest(text: readonly string[], screen: readonly string[]): string | undefined {
  const count = (lines: readonly string[]) => lines.filter(isCardRow).length
  return count(text) > count(screen) ? 'that has left a row in the scrollback' : undefined
}

function isInOrder(card: readonly string[]): boolean {
  const digits = card.flatMap((row) => CHOICE.exec(row)?.[1] ?? [])
  return digits.every((digit, at) => at === 0 || Number(digit) > Number(digits[at - 1]))
}

const CHOICE = /^ [ ❯] (\d) {2}\S/
/** The last choice of a permission, and of a question that takes any text. */
const LAST_CHOICE = /^ [ ❯] \d {2}(No, and tell the agent why|Your own words)/

function isCardTitle(line: string): boolean {
  return /^─ \S/.test(line)
}

function isCardRow(line: string): boolean {
  return isCardTitle(line) || CHOICE.test(line)
}

function isRule(line: string): boolean {
  return /^─{20,}$/.test(line)
}

function isTitle(line: string): boolean {
  return line.startsWith('crab · ') || line.includes('continued: ')
}

/** The frame before, and the frame itself. */
function around(frames: Frames, at: number): string {
  return [at - 1, at]
    .map((one) => frames[one]?.text.slice(-frames[at]!.screen.length).join('\n').trimEnd() ?? '')
    .join(`\n${'═'.repeat(8)}\n`)
}
