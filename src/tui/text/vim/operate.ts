import { moveTo, replaceRange, settle } from '../editor.ts'
import { nextBoundary, previousBoundary } from '../graphemes.ts'
import type { Prompt } from '../prompt-state.ts'
import { findLineStart, lineEnd } from '../words.ts'
import { findChangeEnd, findFirstNonBlank, findMotionTarget, moveLines, repeatFind } from './motions.ts'
import { findTextObject, type ObjectRange } from './objects.ts'
import type { VimCommand, VimOperator } from './read-command.ts'
import { NEW_VIM, type Vim, type VimFind } from './state.ts'

/** A range that an operator works on. */
interface OperatorRange extends ObjectRange {
  isLinewise: boolean
}

/** Returns the vim state of a prompt. */
export function getVim({ vim = NEW_VIM }: Prompt): Vim {
  return vim
}

/** Returns the prompt with another vim state. */
export function withVim(prompt: Prompt, change: Partial<Vim>): Prompt {
  return { ...prompt, vim: { ...getVim(prompt), ...change } }
}

/** Puts the caret on a character, as normal mode requires: never after the last one of a line. */
export function toNormalCaret(prompt: Prompt): Prompt {
  const { text, caret } = prompt
  const isAfterLast = caret === lineEnd(text, caret) && caret > findLineStart(text, caret)
  return isAfterLast ? moveTo(prompt, previousBoundary(text, caret)) : prompt
}

/** Enters insert mode at an offset. The deletion before it belongs to the same step of `u`. */
export function toInsert(prompt: Prompt, at: number, undoDepth = prompt.undos.length): Prompt {
  return withVim(moveTo(prompt, at), { mode: 'insert', pending: '', undoDepth })
}

/** Moves the caret by a motion; the prompt stays the same when that is not possible. */
export function runMotion(prompt: Prompt, command: VimCommand): Prompt | undefined {
  const { found, find } = findTarget(prompt, command)
  if (!found) return find === undefined ? undefined : prompt
  return toNormalCaret(withVim(moveTo(prompt, found.at), { find }))
}

function findTarget(prompt: Prompt, { count, target }: VimCommand) {
  const { text, caret } = prompt
  const origin = { text, caret, count, find: getVim(prompt).find }
  const [kind = '', ...chars] = target
  if (chars.length > 0 && 'fFtT'.includes(kind)) {
    const find = { kind: kind as VimFind['kind'], char: chars.join('') }
    return { found: repeatFind(origin, find), find }
  }
  return { found: findMotionTarget(target, origin), find: origin.find }
}

/** Deletes, changes or yanks what the target of a command covers. */
export function runOperator(prompt: Prompt, command: VimCommand & { operator: VimOperator }): Prompt {
  const range = findRange(prompt, command)
  if (!range) return settle(prompt)
  return applyOperator(prompt, command.operator, range)
}

/** Applies an operator to a range of the text. */
export function applyOperator(prompt: Prompt, operator: VimOperator, range: OperatorRange): Prompt {
  const { text, undos } = prompt
  const { start, end, isLinewise } = range
  if (start === end && operator !== 'c') return settle(prompt)
  const piece = text.slice(start, end)
  const copied = yankText(prompt, isLinewise ? `${piece}\n` : piece, isLinewise)
  if (operator === 'y') return toNormalCaret(moveTo(copied, isLinewise ? prompt.caret : start))
  if (operator === 'c') {
    const from = isLinewise ? findFirstNonBlank(text, start) : start
    return toInsert(from < end ? replaceRange(copied, from, end, '') : copied, from, undos.length)
  }
  if (!isLinewise) return toNormalCaret(replaceRange(copied, start, end, ''))
  const [first, last] = end < text.length ? [start, end + 1] : [Math.max(0, start - 1), end]
  const cut = replaceRange(copied, first, last, '')
  return toNormalCaret(
    moveTo(cut, findFirstNonBlank(cut.text, Math.min(first + (last > end ? 0 : 1), cut.text.length))),
  )
}

function yankText(prompt: Prompt, text: string, isLinewise: boolean): Prompt {
  const kills = text === '' ? prompt.kills : [text, ...prompt.kills].slice(0, MAX_KILLS)
  return { ...withVim(prompt, { register: { text, isLinewise } }), kills }
}

const MAX_KILLS = 30

function findRange(prompt: Prompt, command: VimCommand): OperatorRange | undefined {
  const { text, caret } = prompt
  const { operator, target, count = 1 } = command
  if (target === 'line') return toLines(text, caret, moveLines(text, caret, count - 1))
  if (target === 'j' || target === 'k') {
    const other = moveLines(text, caret, target === 'j' ? count : -count)
    return toLines(text, Math.min(caret, other), Math.max(caret, other))
  }
  if (/^[ia]./su.test(target)) {
    const object = findTextObject(target, text, caret)
    return object && { ...object, isLinewise: false }
  }
  const isWord = target === 'w' || target === 'W'
  const isChange = isWord && operator === 'c' && /^\S/.test(text.slice(caret))
  if (isChange) {
    const last = findChangeEnd(text, caret, { count, isBig: target === 'W' })
    return { start: caret, end: nextBoundary(text, last), isLinewise: false }
  }
  const { found } = findTarget(prompt, command)
  if (!found) return undefined
  const [start, end] = [Math.min(caret, found.at), Math.max(caret, found.at)]
  if (found.isLinewise) return toLines(text, start, end)
  if (isWord) return { start, end: endInLine(text, start, end), isLinewise: false }
  return { start, end: found.isInclusive ? nextBoundary(text, end) : end, isLinewise: false }
}

/** Returns the whole lines from one offset to another, without the last line feed. */
function toLines(text: string, from: number, to: number): OperatorRange {
  return { start: findLineStart(text, from), end: lineEnd(text, to), isLinewise: true }
}

/** Keeps `dw` on the last word of a line from joining the next line. */
function endInLine(text: string, start: number, end: number): number {
  const before = text.slice(start, end)
  const isNextLine = /\n[ \t]*$/.test(before) && end > lineEnd(text, start)
  return isNextLine ? start + before.replace(/\n[\s]*$/, '').length : end
}
