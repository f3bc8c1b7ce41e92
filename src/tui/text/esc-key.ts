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
  /** The slash command, the `!` command or the turn is interrupted. */
  | 'interrupt'
  /** The draft is emptied. Ctrl+Y and Up bring it back. */
  | 'clear-draft'
  /** The next Esc clears the draft. */
  | 'confirm-clear'
  | 'nothing'

/**
 * The facts that decide what Esc does. A component passes the facts that it knows and leaves out the others;
 * a fact that is left out does not hold.
 */
export interface EscFacts {
  /** The transcript has the terminal. */
  pager?: { isTypingSearch: boolean }
  /** An overlay has been drawn and gets the keys. */
  overlay?: { hasPrevious: boolean }
  /** A card gets the key, because the draft is empty or is the answer to its question. */
  card?: { isWriting?: boolean; hasDetails?: boolean; isArmed?: boolean; hasSelection?: boolean }
  /** A `/` or `@` menu is open. */
  hasMenu?: boolean
  /** A slash command or a `!` command is running, and no card is shown. */
  isCommanding?: boolean
  /** A turn is running. */
  isBusy?: boolean
  hasDraft?: boolean
  /** The previous key was an Esc that announced to clear the draft. */
  isClearArmed?: boolean
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
  { does: 'hide-details', applies: ({ card }) => card?.isArmed && card.hasDetails },
  { does: 'decline', applies: ({ card }) => card?.isArmed },
  { does: 'clear-selection', applies: ({ card }) => card?.hasSelection },
  { does: 'close-menu', applies: ({ hasMenu }) => hasMenu },
  { does: 'interrupt', applies: ({ isCommanding }) => isCommanding },
  { does: 'interrupt', applies: ({ isBusy }) => isBusy },
  { does: 'clear-draft', applies: ({ hasDraft, isClearArmed }) => hasDraft && isClearArmed },
  { does: 'confirm-clear', applies: ({ hasDraft }) => hasDraft },
]

/** Returns what Esc does in this state of the screen. */
export function findEscAction(facts: EscFacts): EscAction {
  return ESC_ROWS.find(({ applies }) => applies(facts))?.does ?? 'nothing'
}
