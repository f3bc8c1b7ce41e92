import { moveTo, redo, replaceRange, settle, typeText, undoEdit } from '../editor.ts'
import { nextBoundary } from '../graphemes.ts'
import type { KeyPress } from '../key.ts'
import { EDITS } from '../prompt-edits.ts'
import { type Prompt, type PromptContext, type PromptKeyResult, toKeyResult } from '../prompt-state.ts'
import { findLineStart, lineEnd } from '../words.ts'
import { findFirstNonBlank } from './motions.ts'
import { applyOperator, getVim, runMotion, runOperator, toInsert, toNormalCaret, withVim } from './operate.ts'
import { readVimCommand, type VimCommand } from './read-command.ts'

/** Handles a key of normal mode; undefined for keys that the key table handles, such as Enter and the arrows. */
export function pressVim(prompt: Prompt, key: KeyPress, context: PromptContext): PromptKeyResult | undefined {
  const typed = toVimKey(key)
  const { pending } = getVim(prompt)
  if (typed === undefined) return undefined
  if (typed === 'ctrl+r') return toKeyResult(toNormalCaret(redo(withVim(prompt, { pending: '' }))))
  if (typed === '?' && pending === '' && prompt.text === '') return undefined
  const keys = pending + typed
  const command = readVimCommand(keys)
  if (command === 'incomplete') return toKeyResult(withVim(settle(prompt), { pending: keys }))
  const idle = withVim(prompt, { pending: '' })
  if (command === 'unknown') return toKeyResult(settle(idle))
  if (command.target === '/' && command.operator === undefined)
    return toKeyResult(settle(idle), { type: 'open-search', scope: 'prompts', query: '' })
  const after = runCommand(idle, command, context)
  return toKeyResult(recordChange(after, command, keys))
}

/** Leaves insert mode: the insert becomes one step of `u`, and `.` repeats it. */
export function leaveInsert(prompt: Prompt): Prompt {
  const { recording, change, undoDepth } = getVim(prompt)
  const undos = prompt.undos.slice(0, undoDepth + 1)
  const { text, caret } = prompt
  const at = caret > findLineStart(text, caret) ? EDITS.left(prompt).caret : caret
  const moved = moveTo({ ...prompt, undos }, at)
  return withVim(moved, { mode: 'normal', pending: '', recording: undefined, change: recording ?? change })
}

/** Drops the keys of a command that is not complete. */
export function cancelPending(prompt: Prompt): Prompt {
  return withVim(settle(prompt), { pending: '' })
}

/** Records a key of insert mode for `.`; an insert with other keys than text and Backspace is not repeated. */
export function recordInsert(before: Prompt, after: Prompt, key: KeyPress): Prompt {
  const { recording, mode } = getVim(after)
  if (mode !== 'insert' || !recording || before.text === after.text) return after
  if (key.name === 'text' && !key.ctrl && !key.alt) return withInserted(after, recording.inserted + key.text)
  if (key.name === 'backspace' && recording.inserted !== '')
    return withInserted(after, recording.inserted.slice(0, -1))
  return withVim(after, { recording: undefined })
}

function withInserted(prompt: Prompt, inserted: string): Prompt {
  const { recording } = getVim(prompt)
  return withVim(prompt, { recording: recording && { ...recording, inserted } })
}

/** Returns the key as vim writes it; undefined for keys of the key table. */
function toVimKey({ name, text, ctrl, alt }: KeyPress): string | undefined {
  if (name === 'text' && ctrl && !alt && text === 'r') return 'ctrl+r'
  if (name === 'backspace' && !ctrl && !alt) return 'h'
  return name === 'text' && !ctrl && !alt ? text : undefined
}

function recordChange(prompt: Prompt, { operator, target }: VimCommand, keys: string): Prompt {
  const isChange = operator === undefined ? CHANGES.test(target) : operator !== 'y'
  if (!isChange) return prompt
  const change = { keys, inserted: '' }
  return withVim(prompt, getVim(prompt).mode === 'insert' ? { recording: change } : { change })
}

/** The actions that `.` repeats. */
const CHANGES = /^(?:[xXsSDCpPiIaAoO~J]|r.)$/su

function runCommand(prompt: Prompt, command: VimCommand, context: PromptContext): Prompt {
  const { operator, target, count = 1 } = command
  if (operator !== undefined) return runOperator(prompt, { ...command, operator })
  if (target === '.') return repeatChange(prompt, context)
  if (target === 'j' || target === 'k')
    return moveVertically(prompt, target === 'j' ? 'down' : 'up', count, context)
  const [action = '', ...rest] = target
  if (action === 'r') return replaceChars(prompt, count, rest.join(''))
  const run = ACTIONS[target]
  if (run) return run(prompt, count)
  return runMotion(prompt, command) ?? settle(prompt)
}

function repeatChange(prompt: Prompt, context: PromptContext): Prompt {
  const { change } = getVim(prompt)
  const command = change && readVimCommand(change.keys)
  if (!command || typeof command === 'string') return settle(prompt)
  const after = runCommand(prompt, command, context)
  return getVim(after).mode === 'insert' ? leaveInsert(typeText(after, change.inserted)) : after
}

function moveVertically(prompt: Prompt, way: 'up' | 'down', count: number, context: PromptContext): Prompt {
  let moved = prompt
  for (let left = Math.min(count, MAX_ROWS); left > 0; left--) moved = EDITS[way](moved, context)
  const { goal } = moved
  return { ...toNormalCaret(moved), goal }
}

const MAX_ROWS = 1_000

function replaceChars(prompt: Prompt, count: number, char: string): Prompt {
  const end = skipChars(prompt, count)
  const width = prompt.text.slice(prompt.caret, end)
  if ([...width].length < count) return settle(prompt)
  const replaced = replaceRange(prompt, prompt.caret, end, char.repeat(count))
  return toNormalCaret(moveTo(replaced, replaced.caret - char.length))
}

/** Returns the offset some characters further, but not beyond the line. */
function skipChars({ text, caret }: Prompt, count: number): number {
  let at = caret
  for (let left = count; left > 0 && at < lineEnd(text, caret); left--) at = nextBoundary(text, at)
  return at
}

/** The actions of normal mode that are not motions. */
const ACTIONS: Readonly<Record<string, (prompt: Prompt, count: number) => Prompt>> = {
  i: (prompt) => toInsert(prompt, prompt.caret),
  I: (prompt) => toInsert(prompt, findFirstNonBlank(prompt.text, prompt.caret)),
  a: (prompt) => toInsert(prompt, skipChars(prompt, 1)),
  A: (prompt) => toInsert(prompt, lineEnd(prompt.text, prompt.caret)),
  o: (prompt) => openLine(prompt, lineEnd(prompt.text, prompt.caret), 1),
  O: (prompt) => openLine(prompt, findLineStart(prompt.text, prompt.caret), 0),
  x: (prompt, count) =>
    applyOperator(prompt, 'd', { start: prompt.caret, end: skipChars(prompt, count), isLinewise: false }),
  X: (prompt, count) => runOperator(prompt, { operator: 'd', target: 'h', count }),
  s: (prompt, count) =>
    applyOperator(prompt, 'c', { start: prompt.caret, end: skipChars(prompt, count), isLinewise: false }),
  S: (prompt, count) => runOperator(prompt, { operator: 'c', target: 'line', count }),
  D: (prompt, count) => runOperator(prompt, { operator: 'd', target: '$', count }),
  C: (prompt, count) => runOperator(prompt, { operator: 'c', target: '$', count }),
  Y: (prompt, count) => runOperator(prompt, { operator: 'y', target: 'line', count }),
  p: (prompt, count) => put(prompt, count, true),
  P: (prompt, count) => put(prompt, count, false),
  u: (prompt, count) => toNormalCaret(undoSteps(prompt, count)),
  '~': toggleCase,
  J: joinLines,
}

function openLine(prompt: Prompt, at: number, caret: 0 | 1): Prompt {
  return toInsert(replaceRange(prompt, at, at, '\n'), at + caret, prompt.undos.length)
}

function put(prompt: Prompt, count: number, isAfter: boolean): Prompt {
  const { text, isLinewise } = getVim(prompt).register
  if (text === '') return settle(prompt)
  const piece = text.repeat(Math.min(count, MAX_PUTS))
  const { text: whole, caret } = prompt
  if (!isLinewise) {
    const at = isAfter ? skipChars(prompt, 1) : caret
    const pasted = replaceRange(prompt, at, at, piece)
    return toNormalCaret(EDITS.left(pasted))
  }
  const lines = piece.slice(0, -1)
  const at = isAfter ? lineEnd(whole, caret) : findLineStart(whole, caret)
  const pasted = replaceRange(prompt, at, at, isAfter ? `\n${lines}` : `${lines}\n`)
  return toNormalCaret(moveTo(pasted, findFirstNonBlank(pasted.text, isAfter ? at + 1 : at)))
}

const MAX_PUTS = 100

function undoSteps(prompt: Prompt, count: number): Prompt {
  let undone = prompt
  for (let left = Math.min(count, prompt.undos.length); left > 0; left--) undone = undoEdit(undone)
  return undone
}

function toggleCase(prompt: Prompt, count: number): Prompt {
  const end = skipChars(prompt, count)
  const toggled = [...prompt.text.slice(prompt.caret, end)].map((char) => {
    const lower = char.toLowerCase()
    return char === lower ? char.toUpperCase() : lower
  })
  return toNormalCaret(replaceRange(prompt, prompt.caret, end, toggled.join('')))
}

function joinLines(prompt: Prompt, count: number): Prompt {
  let joined = prompt
  for (let left = Math.max(1, count - 1); left > 0; left--) {
    const at = lineEnd(joined.text, joined.caret)
    if (at === joined.text.length) break
    const blanks = /^\n[ \t]*/.exec(joined.text.slice(at))![0].length
    joined = moveTo(replaceRange(joined, at, at + blanks, ' '), at)
  }
  return toNormalCaret(joined)
}
