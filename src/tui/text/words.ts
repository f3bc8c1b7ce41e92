import { toBoundary } from './graphemes.ts'
import { lazyValue } from './lazy-value.ts'
import { PLACEHOLDER } from './pastes.ts'

/** Returns the end of the word at an offset, or of the next one; the end of the text when there is none. */
export function wordEnd(text: string, at: number): number {
  for (let from = at; from < text.length; from = lineEnd(text, from) + 1) {
    const start = findLineStart(text, from)
    const end = listWords(text.slice(start, lineEnd(text, from))).find((word) => start + word.end > at)
    if (end) return toBoundary(text, start + end.end)
  }
  return text.length
}

/** Returns the start of the word before an offset; 0 when there is none. */
export function wordStart(text: string, at: number): number {
  for (let from = at; from >= 0; from = findLineStart(text, from) - 1) {
    const start = findLineStart(text, from)
    const word = listWords(text.slice(start, lineEnd(text, from))).findLast((word) => start + word.start < at)
    if (word) return toBoundary(text, start + word.start)
    if (start === 0) break
  }
  return 0
}

/** Returns the start of the run of non-whitespace before an offset, like Ctrl+W in a shell. */
export function blankWordStart(text: string, at: number): number {
  const before = text.slice(0, at)
  return toBoundary(text, before.length - before.match(/\S*\s*$/)![0].length)
}

/** Returns the start of the line around an offset. */
export function findLineStart(text: string, at: number): number {
  return at <= 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1
}

/** Returns the end of the line around an offset, before its line feed. */
export function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end < 0 ? text.length : end
}

interface Word {
  start: number
  end: number
}

function listWords(line: string): Word[] {
  if (ASCII.test(line)) return [...line.matchAll(/\w+/g)].map((found) => toWord(found.index, found[0]))
  const words: Word[] = []
  for (const { index, segment, isWordLike } of segmenter().segment(line))
    if (isWordLike || PLACEHOLDER.test(segment)) words.push(toWord(index, segment))
  return words
}

function toWord(start: number, text: string): Word {
  return { start, end: start + text.length }
}

const ASCII = /^[\x20-\x7e]*$/
const segmenter = lazyValue(() => new Intl.Segmenter(undefined, { granularity: 'word' }))
