import { cleared, pasteText, settle, typeText } from './editor.ts'
import { pastedParts } from './fold-pastes.ts'
import { addSent } from './history.ts'
import type { KeyPress } from './key.ts'
import { commandOf, type PromptCommand } from './keymap.ts'
import { tokenAt } from './menu.ts'
import { toImageMention } from './pasted-path.ts'
import { EDITS } from './prompt-edits.ts'
import { followMenu, pressMenu } from './prompt-menu.ts'
import { type PressedPrompt, type Prompt, type PromptContext, pressed, promptText } from './prompt-state.ts'

export type { SentText } from './history.ts'
export type { Completion, Prompt, PromptContext } from './prompt-state.ts'
export {
  EMPTY_PROMPT,
  isNote,
  pastedIn,
  promptText,
  withCommands,
  withCompletions,
  withEdited,
  withHistory,
  withReturned,
  withSent,
} from './prompt-state.ts'

/** What a key does to the prompt. */
export function pressPrompt(prompt: Prompt, key: KeyPress, context: PromptContext): PressedPrompt {
  const found = pressMenu(prompt, key)
  if (found?.isSent) return submit(found.prompt)
  if (found) return follow(prompt, pressed({ ...found.prompt, armed: undefined }), context)
  const result = pressKey(prompt, key, context)
  const isArmed = result.state.armed !== prompt.armed
  const state = isArmed ? result.state : { ...result.state, armed: undefined }
  return follow(prompt, { ...result, state }, context)
}

function pressKey(prompt: Prompt, key: KeyPress, context: PromptContext): PressedPrompt {
  if (key.name === 'paste') return pressed(paste(prompt, key.text))
  const command = commandOf(key)
  if (command !== undefined) return run(command, prompt, context)
  if (key.name !== 'text' || key.ctrl || key.alt) return pressed(prompt)
  if (key.text === '?' && prompt.text === '' && !context.hasCard)
    return pressed(prompt, { type: 'command', line: '/help' })
  return pressed(typeText(prompt, key.text))
}

function run(command: PromptCommand, prompt: Prompt, context: PromptContext): PressedPrompt {
  switch (command) {
    case 'submit':
      return hasTrailingBackslash(prompt) ? pressed(breakAtBackslash(prompt)) : submit(prompt)
    case 'queue':
      return queue(prompt, context)
    case 'escape':
      return pressEscape(prompt, context)
    case 'cancel':
      return pressCancel(prompt, context)
    case 'delete-or-leave':
      if (prompt.text === '') return pressed(prompt, { type: 'leave' })
      return pressed(EDITS.delete(prompt))
    case 'search-history':
      return pressed(settle(prompt), { type: 'open-search', scope: 'prompts', query: '' })
    case 'take-queue-back':
    case 'cycle-mode':
    case 'open-transcript':
    case 'toggle-thinking':
    case 'edit-externally':
    case 'paste':
    case 'redraw':
    case 'suspend':
      return pressed(settle(prompt), { type: command })
    default:
      return pressed(EDITS[command](prompt, context))
  }
}

/** Opens, narrows or closes the menu as the word at the caret says, and asks for what it needs. */
function follow(before: Prompt, { state, effects }: PressedPrompt, context: PromptContext): PressedPrompt {
  if (state.text === before.text && state.caret === before.caret && state.menu === before.menu)
    return { state, effects }
  const { prompt, query } = followMenu(state, context)
  const isCommand = tokenAt(prompt)?.kind === 'command' && tokenAt(before)?.kind !== 'command'
  if (isCommand)
    return { state: prompt, effects: [...effects, { type: 'complete', kind: 'command', query: '' }] }
  if (query === undefined) return { state: prompt, effects }
  return { state: prompt, effects: [...effects, { type: 'complete', kind: 'file', query }] }
}

function submit(prompt: Prompt): PressedPrompt {
  const text = promptText(prompt).trimEnd()
  if (text.trim() === '') return pressed(settle(prompt))
  return pressed(sent(prompt, text), { type: 'submit', text })
}

function queue(prompt: Prompt, { isBusy }: PromptContext): PressedPrompt {
  const text = promptText(prompt).trimEnd()
  if (!isBusy || text.trim() === '') return pressed(settle(prompt))
  return pressed(sent(prompt, text), { type: 'queue', text })
}

/** The prompt without its text, which went somewhere else than to the agents. */
export function withoutText(prompt: Prompt): Prompt {
  return closed(cleared(prompt, { kill: false }))
}

/** Empty again; what went out is in the history. */
function sent(prompt: Prompt, text: string): Prompt {
  const pasted = pastedParts(prompt.text, prompt.pastes)
  const history = addSent(prompt.history, { text, pasted })
  return { ...closed(cleared(prompt, { kill: false })), history }
}

function pressEscape(prompt: Prompt, { isBusy }: PromptContext): PressedPrompt {
  if (isBusy) return pressed(settle(prompt), { type: 'interrupt' })
  if (prompt.text === '') return pressed(settle(prompt))
  if (prompt.armed !== 'clear') return pressed({ ...settle(prompt), armed: 'clear' })
  return pressed(discard(prompt))
}

function pressCancel(prompt: Prompt, { isBusy, isCancelling = false }: PromptContext): PressedPrompt {
  if (isBusy && !isCancelling) return pressed(settle(prompt), { type: 'interrupt' })
  if (prompt.text !== '') return pressed(discard(prompt))
  if (prompt.armed === 'leave') return pressed(prompt, { type: 'leave' })
  return pressed({ ...settle(prompt), armed: 'leave' })
}

/** Empty again; the draft can be yanked, and comes back with Up. */
function discard(prompt: Prompt): Prompt {
  const pasted = pastedParts(prompt.text, prompt.pastes)
  const history = addSent(prompt.history, { text: promptText(prompt), pasted })
  return { ...closed(cleared(prompt, { kill: true })), history }
}

function closed(prompt: Prompt): Prompt {
  return { ...prompt, menu: undefined, closedAt: undefined, armed: undefined }
}

function paste(prompt: Prompt, text: string): Prompt {
  const mention = toImageMention(text)
  if (mention === undefined) return pasteText(prompt, text)
  const isApart = prompt.caret === 0 || /\s/.test(prompt.text.charAt(prompt.caret - 1))
  return pasteText(prompt, `${isApart ? '' : ' '}${mention} `)
}

/** A backslash at the end of the line makes Enter a line break. */
function hasTrailingBackslash({ text, caret }: Prompt): boolean {
  const isAtEnd = caret === text.length || text[caret] === '\n'
  return isAtEnd && /(?<!\\)(?:\\\\)*\\$/.test(text.slice(0, caret))
}

function breakAtBackslash(prompt: Prompt): Prompt {
  return EDITS['line-break']({ ...EDITS['delete-back'](prompt), last: 'other' })
}
