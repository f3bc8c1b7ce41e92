import type { KeymapCommand } from '../../core/keys/keymap.ts'
import { pasteText, settle, typeText } from './editor.ts'
import type { ChatEffect } from './effects.ts'
import { findEscAction } from './esc-key.ts'
import { toGraphemes } from './graphemes.ts'
import { addSent } from './history.ts'
import type { KeyPress } from './key.ts'
import { findKeymapCommand } from './key-command.ts'
import { tokenAt } from './menu.ts'
import { toImageMention } from './pasted-path.ts'
import { EDITS } from './prompt-edits.ts'
import { closeMenu, followMenu, pressMenu } from './prompt-menu.ts'
import {
  fullPromptText,
  type Prompt,
  type PromptContext,
  type PromptKeyResult,
  pastedDraft,
  toKeyResult,
  withKilledText,
  withoutText,
} from './prompt-state.ts'
import { toNormalCaret } from './vim/operate.ts'
import { cancelPending, leaveInsert, pressVim, recordInsert } from './vim/press-vim.ts'

/** Handles a key in the prompt. */
export function pressPrompt(prompt: Prompt, key: KeyPress, context: PromptContext): PromptKeyResult {
  const found = pressMenu(prompt, key)
  if (found?.isSent) return submit(found.prompt)
  if (found) return follow(prompt, toKeyResult({ ...found.prompt, armed: undefined }), context)
  const result = prompt.vim ? pressWithVim(prompt, key, context) : pressKey(prompt, key, context)
  const isArmed = result.state.armed !== prompt.armed
  const state = isArmed ? result.state : { ...result.state, armed: undefined }
  return follow(prompt, { ...result, state }, context)
}

/** Handles a key of the prompt with vim keys. In normal mode no menu opens. */
function pressWithVim(prompt: Prompt, key: KeyPress, context: PromptContext): PromptKeyResult {
  const isNormal = prompt.vim?.mode === 'normal'
  const chars = isNormal && key.name === 'text' && !key.ctrl && !key.alt ? toGraphemes(key.text) : []
  if (chars.length > 1) return pressChars(prompt, key, chars, context) // fast typing arrives in one piece
  const pressed = isNormal && key.name !== 'paste' ? pressVim(prompt, key, context) : undefined
  if (pressed) return pressed
  const { state, effects } = pressKey(prompt, key, context)
  return { state: isNormal ? toNormalCaret(cancelPending(state)) : recordInsert(prompt, state, key), effects }
}

function pressChars(
  prompt: Prompt,
  key: KeyPress,
  chars: readonly string[],
  context: PromptContext,
): PromptKeyResult {
  let state = prompt
  const effects: ChatEffect[] = []
  for (const text of chars) {
    const pressed = pressPrompt(state, { ...key, text }, context)
    state = pressed.state
    effects.push(...pressed.effects)
  }
  return toKeyResult(state, ...effects)
}

function pressKey(prompt: Prompt, key: KeyPress, context: PromptContext): PromptKeyResult {
  if (key.name === 'paste') return toKeyResult(paste(prompt, key.text))
  const command = findKeymapCommand(key, context.keymap, (condition) =>
    condition === 'turn' ? context.isBusy : prompt.text === '' && !context.hasCard,
  )
  if (command !== undefined) return run(command, prompt, context)
  if (key.name !== 'text' || key.ctrl || key.alt) return toKeyResult(prompt)
  if (key.text === '?' && prompt.text === '' && !context.hasCard)
    return toKeyResult(prompt, { type: 'command', line: '/help' })
  return toKeyResult(typeText(prompt, key.text))
}

function run(command: KeymapCommand, prompt: Prompt, context: PromptContext): PromptKeyResult {
  switch (command) {
    case 'submit':
      return hasTrailingBackslash(prompt) ? toKeyResult(breakAtBackslash(prompt)) : submit(prompt)
    case 'queue':
      return queue(prompt, context)
    case 'escape':
      return pressEscape(prompt, context)
    case 'cancel':
      return pressCancel(prompt, context)
    case 'delete-or-leave':
      if (prompt.text === '') return toKeyResult(prompt, { type: 'leave' })
      return toKeyResult(EDITS.delete(prompt))
    case 'search-history':
      return toKeyResult(settle(prompt), { type: 'open-search', scope: 'prompts', query: '' })
    case 'background-turn':
      return toKeyResult(settle(prompt), { type: 'command', line: '/background' })
    case 'open-agents':
      return toKeyResult(settle(prompt), { type: 'command', line: '/agents' })
    case 'take-queue-back':
    case 'cycle-mode':
    case 'open-transcript':
    case 'toggle-thinking':
    case 'edit-externally':
    case 'paste':
    case 'redraw':
    case 'suspend':
      return toKeyResult(settle(prompt), { type: command })
    default:
      return toKeyResult(EDITS[command](prompt, context))
  }
}

/** Opens, narrows or closes the menu for the word at the caret, and requests missing entries. */
function follow(
  before: Prompt,
  { state, effects }: PromptKeyResult,
  context: PromptContext,
): PromptKeyResult {
  if (state.vim?.mode === 'normal') return { state: { ...state, menu: undefined }, effects }
  if (state.text === before.text && state.caret === before.caret && state.menu === before.menu)
    return { state, effects }
  const isWalking = state.history.at !== before.history.at
  if (isWalking) return { state: closeMenu(state), effects } // an open menu would take the next Up
  const { prompt, query } = followMenu(state, context)
  const isCommand = tokenAt(prompt)?.kind === 'command' && tokenAt(before)?.kind !== 'command'
  if (isCommand)
    return { state: prompt, effects: [...effects, { type: 'complete', kind: 'command', query: '' }] }
  if (query === undefined) return { state: prompt, effects }
  return { state: prompt, effects: [...effects, { type: 'complete', kind: 'file', query }] }
}

function submit(prompt: Prompt): PromptKeyResult {
  const text = fullPromptText(prompt).trimEnd()
  if (text.trim() === '') return toKeyResult(settle(prompt))
  return toKeyResult(recordSent(prompt, text), { type: 'submit', text })
}

function queue(prompt: Prompt, { isBusy }: PromptContext): PromptKeyResult {
  const text = fullPromptText(prompt).trimEnd()
  if (!isBusy || text.trim() === '') return toKeyResult(settle(prompt))
  return toKeyResult(recordSent(prompt, text), { type: 'queue', text })
}

/** Empties the prompt and records the sent text in the history. */
function recordSent(prompt: Prompt, text: string): Prompt {
  const pasted = pastedDraft(prompt)
  const history = addSent(prompt.history, { text, pasted })
  return { ...withoutText(prompt), history }
}

function pressEscape(prompt: Prompt, { isBusy, hasCard = false }: PromptContext): PromptKeyResult {
  switch (findEscAction({ prompt, isBusy, hasCard })) {
    case 'close-menu':
      return toKeyResult(closeMenu(prompt))
    case 'leave-insert':
      return toKeyResult(leaveInsert(prompt))
    case 'cancel-command':
      return toKeyResult(cancelPending(prompt))
    case 'interrupt':
      return toKeyResult(settle(prompt), { type: 'interrupt' })
    case 'clear-draft':
      return toKeyResult(discard(prompt))
    case 'confirm-clear':
      return toKeyResult({ ...settle(prompt), armed: 'clear' })
    case 'confirm-rewind':
      return toKeyResult({ ...settle(prompt), armed: 'rewind' })
    case 'rewind':
      return toKeyResult({ ...settle(prompt), armed: undefined }, { type: 'command', line: '/rewind' })
    default:
      return toKeyResult(settle(prompt))
  }
}

function pressCancel(prompt: Prompt, { isBusy, isCancelling = false }: PromptContext): PromptKeyResult {
  if (isBusy && !isCancelling) return toKeyResult(settle(prompt), { type: 'interrupt' })
  if (prompt.text !== '') return toKeyResult(discard(prompt))
  if (prompt.armed === 'leave') return toKeyResult(prompt, { type: 'leave' })
  return toKeyResult({ ...settle(prompt), armed: 'leave' })
}

/** Empties the prompt. The draft can be yanked, and Up brings it back. */
function discard(prompt: Prompt): Prompt {
  const pasted = pastedDraft(prompt)
  const history = addSent(prompt.history, { text: fullPromptText(prompt), pasted })
  return { ...withKilledText(prompt), history }
}

function paste(prompt: Prompt, text: string): Prompt {
  const mention = toImageMention(text)
  if (mention === undefined) return pasteText(prompt, text)
  const isApart = prompt.caret === 0 || /\s/.test(prompt.text.charAt(prompt.caret - 1))
  return pasteText(prompt, `${isApart ? '' : ' '}${mention} `)
}

/** Whether a backslash at the end of the line makes Enter a line break. */
function hasTrailingBackslash({ text, caret }: Prompt): boolean {
  const isAtEnd = caret === text.length || text[caret] === '\n'
  return isAtEnd && /(?<!\\)(?:\\\\)*\\$/.test(text.slice(0, caret))
}

function breakAtBackslash(prompt: Prompt): Prompt {
  return EDITS['line-break']({ ...EDITS['delete-back'](prompt), last: 'other' })
}
