import { hasOpenMenu } from './prompt-menu.ts'
import type { Prompt } from './prompt-state.ts'

/** The effect of one press of Esc. */
export type EscAction =
  /** The transcript stays open, and the search term that was being typed is dropped. */
  | 'cancel-pager-search'
  | 'close-pager'
  /** The page is replaced by the overlay that opened it. */
  | 'return-to-overlay'
  | 'close-overlay'
  /** The card no longer waits for typed text and shows its choices again. */
  | 'return-to-choices'
  | 'hide-details'
  /** A permission is answered with No, a form with empty answers. */
  | 'decline'
  /** The selection on a card that cannot be answered yet is reset. */
  | 'clear-selection'
  | 'close-menu'
  /** The vim keys leave insert mode. */
  | 'leave-insert'
  /** The keys of a vim command that is not complete are dropped. */
  | 'cancel-command'
  /** The slash command, the `!` command or the turn is interrupted. */
  | 'interrupt'
  /** The draft is emptied. Ctrl+Y and Up bring it back. */
  | 'clear-draft'
  /** The next Esc clears the draft. */
  | 'confirm-clear'
  /** The user's messages are listed, to go back to one. */
  | 'rewind'
  /** The next Esc lists them. */
  | 'confirm-rewind'
  | 'nothing'

/**
 * The parts of the screen on which Esc acts. The component that handles Esc passes the parts that it has; a part that
 * is left out is not on the screen.
 */
export interface EscScreen {
  /** The transcript, while it has the terminal. */
  pager?: { typing: string | undefined }
  /** The overlay that has been drawn and gets the keys. */
  overlay?: { kind: string; back?: unknown }
  /** The card that gets the key, because the draft is empty or is the answer to its question. */
  card?: EscCard
  prompt?: Prompt
  /** Whether a slash command or a `!` command is running, and no card is shown. */
  isCommanding?: boolean
  /** Whether a turn is running. */
  isBusy?: boolean
  /** Whether a card is on the screen, below which Esc neither interrupts nor rewinds. */
  hasCard?: boolean
}

interface EscCard {
  isArmed: boolean
  state: { isWriting: boolean; hasDetails?: boolean; pick: { by: string } }
}

/** The facts about a screen that decide what Esc does. */
interface EscFacts {
  pager?: { isTypingSearch: boolean } | undefined
  overlay?: { hasPrevious: boolean } | undefined
  card?: { isWriting: boolean; hasDetails: boolean; isArmed: boolean; hasSelection: boolean } | undefined
  /** A `/` or `@` menu is open. */
  hasMenu: boolean
  /** The vim keys are in insert mode. */
  isInserting: boolean
  /** A vim command is not complete. */
  isPending: boolean
  isCommanding: boolean
  isBusy: boolean
  hasCard: boolean
  hasDraft: boolean
  /** The composer gets the key and is empty. */
  isEmpty: boolean
  /** The previous key was an Esc that announced that the next one lists the messages. */
  isRewindArmed: boolean
  /** The previous key was an Esc that announced that the next one clears the draft. */
  isClearArmed: boolean
}

/**
 * The meaning of Esc in each state of the screen. The first row that applies decides: the part that covers
 * the others comes first.
 */
export const ESC_ROWS: readonly { does: EscAction; applies(facts: EscFacts): boolean | undefined }[] = [
  { does: 'cancel-pager-search', applies: ({ pager }) => pager?.isTypingSearch },
  { does: 'close-pager', applies: ({ pager }) => pager !== undefined },
  { does: 'return-to-overlay', applies: ({ overlay }) => overlay?.hasPrevious },
  { does: 'close-overlay', applies: ({ overlay }) => overlay !== undefined },
  { does: 'return-to-choices', applies: ({ card }) => card?.isWriting },
  { does: 'hide-details', applies: ({ card }) => card?.hasDetails },
  { does: 'leave-insert', applies: ({ card, isInserting }) => card && isInserting },
  { does: 'decline', applies: ({ card }) => card?.isArmed },
  { does: 'clear-selection', applies: ({ card }) => card?.hasSelection },
  { does: 'close-menu', applies: ({ hasMenu }) => hasMenu },
  { does: 'leave-insert', applies: ({ isInserting }) => isInserting },
  { does: 'cancel-command', applies: ({ isPending }) => isPending },
  { does: 'interrupt', applies: ({ isCommanding }) => isCommanding },
  { does: 'interrupt', applies: ({ isBusy, hasCard }) => isBusy && !hasCard },
  { does: 'clear-draft', applies: ({ hasDraft, isClearArmed }) => hasDraft && isClearArmed },
  { does: 'confirm-clear', applies: ({ hasDraft }) => hasDraft },
  { does: 'rewind', applies: ({ isEmpty, hasCard, isRewindArmed }) => isEmpty && !hasCard && isRewindArmed },
  { does: 'confirm-rewind', applies: ({ isEmpty, hasCard }) => isEmpty && !hasCard },
]

/** Returns what Esc does on this screen. */
export function findEscAction(screen: EscScreen): EscAction {
  const facts = toFacts(screen)
  return ESC_ROWS.find(({ applies }) => applies(facts))?.does ?? 'nothing'
}

function toFacts({
  pager,
  overlay,
  card,
  prompt,
  isCommanding = false,
  isBusy = false,
  hasCard = false,
}: EscScreen): EscFacts {
  return {
    pager: pager && { isTypingSearch: pager.typing !== undefined },
    overlay: overlay && { hasPrevious: overlay.back !== undefined },
    card: card && toCardFacts(card),
    hasMenu: prompt !== undefined && hasOpenMenu(prompt),
    isInserting: prompt?.vim?.mode === 'insert',
    isPending: prompt?.vim !== undefined && prompt.vim.pending !== '',
    isCommanding,
    isBusy,
    hasCard,
    hasDraft: prompt !== undefined && prompt.text !== '',
    isClearArmed: prompt?.armed === 'clear',
    isEmpty: prompt?.text === '',
    isRewindArmed: prompt?.armed === 'rewind',
  }
}

function toCardFacts({ isArmed, state }: EscCard): EscFacts['card'] {
  const { isWriting, hasDetails = false, pick } = state
  return { isWriting, hasDetails, isArmed, hasSelection: pick.by !== 'card' }
}
