import { setTimeout as sleep } from 'node:timers/promises'
import type { Screen } from './screen.ts'

/**
 * Measures the time from a key to its character on the screen, in milliseconds, for `count` keys. Leaves the
 * prompt empty.
 */
export async function keyEchoes(screen: Screen, count: number): Promise<number[]> {
  const echoes: number[] = []
  while (echoes.length < count) {
    const word = randomWord()
    for (const key of word.slice(0, UNMEASURED)) await type(screen, key)
    await screen.shows(new RegExp(word.slice(0, UNMEASURED)))
    for (let length = UNMEASURED + 1; length <= word.length; length++) {
      const at = performance.now()
      screen.type(word[length - 1]!)
      echoes.push((await screen.shows(new RegExp(word.slice(0, length)))) - at)
      await sleep(PAUSE_MS + Math.random() * PAUSE_MS)
    }
    for (const _ of word) await type(screen, BACKSPACE)
  }
  return echoes.slice(0, count)
}

/** The characters typed before measuring starts; a shorter text may already be on the screen. */
const UNMEASURED = 4
const WORD_LENGTH = 24
/** The fastest pace of a human typist. */
const PAUSE_MS = 30
const BACKSPACE = '\x7f'

async function type(screen: Screen, key: string): Promise<void> {
  screen.type(key)
  await sleep(PAUSE_MS)
}

function randomWord(): string {
  return Array.from({ length: WORD_LENGTH }, () => LETTERS[Math.floor(Math.random() * LETTERS.length)]).join(
    '',
  )
}

/** Letters without vowels, so that no words and no completions appear. */
const LETTERS = 'bcdfghjklmnpqrstvwxz'
