import type { Session } from './chat-session.ts'

/** Matches a card that accepts digits and arrows. */
export const TAKES_DIGITS = /^ {3}A digit or arrows/m

/** Matches a card on which Enter takes the selected row. */
const TAKES_ENTER = /^ {3}Enter/m

/**
 * Chooses on the visible card: with a digit when the card accepts digits, and with Enter when it accepts
 * that.
 */
export async function chooseDigit(chat: Session, digit: string): Promise<void> {
  await chat.shows(TAKES_DIGITS)
  chat.type(digit)
  await chat.shows(TAKES_ENTER)
  chat.press('enter')
}

/** Chooses like chooseDigit(), after paging to the end of the question; waits until the screen shows `then`. */
export async function readAndChoose(chat: Session, digit: string, then: string): Promise<void> {
  await chooseDigit(chat, digit)
  const isOver = () => chat.screen.lines().some((line) => line.includes(then))
  const takesEnter = () => TAKES_ENTER.test(chat.screen.lines().join('\n'))
  while (!isOver()) {
    await chat.shows(() => isOver() || !takesEnter())
    await chat.shows(() => isOver() || takesEnter())
    if (!isOver()) chat.press('enter')
  }
}
