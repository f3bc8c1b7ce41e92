import { setTimeout as sleep } from 'node:timers/promises'
import type { Screen } from './screen.ts'

/** How long from a key to its character on the screen, for so many keys, milliseconds. The prompt is empty afterwards. */
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

/** Fewer characters may stand on the screen already. */
const UNMEASURED = 4
const WORD_LENGTH = 24
/** A person's fastest. */
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

/** No vowels: no words, no completions. */
const LETTERS = 'bcdfghjklmnpqrstvwxz'
