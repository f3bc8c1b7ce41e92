import { nextBoundary, previousBoundary } from '../graphemes.ts'
import { findLineStart, lineEnd } from '../words.ts'
import type { VimFind } from './state.ts'

/** The target of a motion. */
export interface MotionTarget {
  at: number
  /** Whether an operator also takes the character at the target. */
  isInclusive?: boolean
  /** Whether an operator takes whole lines. */
  isLinewise?: boolean
}

/** A position from which motions start. */
export interface MotionOrigin {
  text: string
  caret: number
  /** The number of repetitions; undefined when no count was typed. */
  count: number | undefined
  find: VimFind | undefined
}

/**
 * Returns the target of a motion within the text; undefined when the motion is not possible. `j` and `k` are
 * not motions of this table, because they depend on how lines are wrapped.
 */
export function findMotionTarget(motion: string, origin: MotionOrigin): MotionTarget | undefined {
  const { text, caret, count = 1 } = origin
  const repeat = (step: (at: number) => number): MotionTarget => {
    let at = caret
    for (let left = Math.min(count, text.length + 1); left > 0; left--) at = step(at)
    return { at }
  }
  switch (motion) {
    case 'h':
      return repeat((at) => Math.max(findLineStart(text, at), previousBoundary(text, at)))
    case 'l':
    case ' ':
      return repeat((at) => Math.min(lineEnd(text, at), nextBoundary(text, at)))
    case 'w':
    case 'W':
      return repeat((at) => nextWord(text, at, motion === 'W'))
    case 'b':
    case 'B':
      return repeat((at) => previousWord(text, at, motion === 'B'))
    case 'e':
    case 'E':
      return { ...repeat((at) => endOfWord(text, at, motion === 'E')), isInclusive: true }
    case '0':
      return { at: findLineStart(text, caret) }
    case '^':
      return { at: findFirstNonBlank(text, caret) }
    case '$':
      return { at: lineEnd(text, moveLines(text, caret, count - 1)) }
    case 'gg':
      return { at: findFirstNonBlank(text, toLine(text, origin.count ?? 1)), isLinewise: true }
    case 'G':
      return { at: findFirstNonBlank(text, toLine(text, origin.count ?? Infinity)), isLinewise: true }
    case ';':
    case ',':
      return origin.find && repeatFind(origin, motion === ';' ? origin.find : toOpposite(origin.find), true)
    default:
      return undefined
  }
}

/** Returns the target of `f`, `t`, `F` or `T`; undefined when the line does not have the character that often. */
export function repeatFind(
  { text, caret, count = 1 }: MotionOrigin,
  { kind, char }: VimFind,
  isRepeated = false,
): MotionTarget | undefined {
  const isForward = kind === 'f' || kind === 't'
  const isTill = kind === 't' || kind === 'T'
  const [start, end] = [findLineStart(text, caret), lineEnd(text, caret)]
  let at = caret
  if (isTill && isRepeated) at += isForward ? 1 : -1 // else `;` would find the same character again
  for (let left = count; left > 0; left--) {
    at = isForward ? text.indexOf(char, at + 1) : at <= start ? -1 : text.lastIndexOf(char, at - 1)
    if (at < start || at >= end) return undefined
  }
  if (isForward) return { at: isTill ? previousBoundary(text, at) : at, isInclusive: true }
  return { at: isTill ? nextBoundary(text, at) : at }
}

function toOpposite({ kind, char }: VimFind): VimFind {
  const isLower = kind === kind.toLowerCase()
  return { kind: (isLower ? kind.toUpperCase() : kind.toLowerCase()) as VimFind['kind'], char }
}

/** Returns the offset of the first character of the line that is not a blank, or the end of the line. */
export function findFirstNonBlank(text: string, at: number): number {
  const start = findLineStart(text, at)
  return start + (/^[ \t]*/.exec(text.slice(start, lineEnd(text, at)))?.[0].length ?? 0)
}

/** Returns an offset in the line that is some lines further down, or up when negative. */
export function moveLines(text: string, at: number, lines: number): number {
  let line = at
  for (let left = Math.min(Math.abs(lines), text.length); left > 0; left--) {
    if (lines > 0) {
      if (lineEnd(text, line) === text.length) break
      line = lineEnd(text, line) + 1
    } else {
      if (findLineStart(text, line) === 0) break
      line = findLineStart(text, line) - 1
    }
  }
  return line
}

/** Returns the start of a line by its number, from 1. */
function toLine(text: string, number: number): number {
  return moveLines(text, 0, Math.max(0, number - 1))
}

type CharClass = 'blank' | 'line' | 'word' | 'sign'

/** Returns the class of the character at an offset. Vim moves from one class to the next. */
function classify(text: string, at: number, isBig: boolean): CharClass {
  const char = text.slice(at, nextBoundary(text, at))
  if (char === '\n' || char === '') return 'line'
  if (/^\s/.test(char)) return 'blank'
  return isBig || /^[\p{L}\p{N}\p{M}_]/u.test(char) ? 'word' : 'sign'
}

function nextWord(text: string, from: number, isBig: boolean): number {
  const kind = classify(text, from, isBig)
  let at = from
  if (kind === 'word' || kind === 'sign') {
    while (at < text.length && classify(text, at, isBig) === kind) at = nextBoundary(text, at)
  } else if (kind === 'line') at = Math.min(text.length, at + 1)
  while (at < text.length && classify(text, at, isBig) === 'blank') at = nextBoundary(text, at)
  const isEmptyLine = at === findLineStart(text, at) && at > from
  if (classify(text, at, isBig) !== 'line' || isEmptyLine || at >= text.length) return at
  return nextWord(text, at, isBig)
}

function previousWord(text: string, from: number, isBig: boolean): number {
  let at = from
  const before = () => previousBoundary(text, at)
  while (at > 0) {
    const kind = classify(text, before(), isBig)
    if (kind === 'word' || kind === 'sign') break
    at = before()
    if (kind === 'line' && at === findLineStart(text, at) && at > 0) return at // an empty line is a word
  }
  if (at === 0) return 0
  const kind = classify(text, before(), isBig)
  while (at > 0 && classify(text, before(), isBig) === kind) at = before()
  return at
}

/** Returns the last character that `cw` changes: the end of the word at the caret, or of a later one. */
export function findChangeEnd(
  text: string,
  caret: number,
  { count, isBig }: { count: number; isBig: boolean },
): number {
  let at = findWordEnd(text, caret, isBig)
  for (let left = count; left > 1; left--) at = endOfWord(text, at, isBig)
  return at
}

function endOfWord(text: string, from: number, isBig: boolean): number {
  return findWordEnd(text, nextBoundary(text, from), isBig)
}

/** Returns the last character of the word at an offset, or of the next one. */
function findWordEnd(text: string, from: number, isBig: boolean): number {
  let at = from
  while (at < text.length && isGap(classify(text, at, isBig))) at = nextBoundary(text, at)
  if (at >= text.length) return previousBoundary(text, text.length)
  const kind = classify(text, at, isBig)
  for (let next = nextBoundary(text, at); next < text.length; next = nextBoundary(text, next)) {
    if (classify(text, next, isBig) !== kind) break
    at = next
  }
  return at
}

function isGap(kind: CharClass): boolean {
  return kind === 'blank' || kind === 'line'
}
