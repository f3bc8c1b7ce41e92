import type { Session } from './chat-session.ts'

/** Matches a card that accepts digits and arrows. */
export const TAKES_DIGITS = /^ {3}A digit or arrows/m

/** Matches a card on which Enter chooses the selected row, or shows what must be read before. */
const TAKES_ENTER = /^ {3}Enter.*/m

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
  await chat.shows(TAKES_DIGITS)
  chat.type(digit)
  let before = ''
  const isOver = () => chat.screen.lines().some((line) => line.includes(then))
  const readKeys = () => TAKES_ENTER.exec(chat.screen.lines().join('\n'))?.[0] ?? before
  while (!isOver()) {
    await chat.shows(() => isOver() || readKeys() !== before)
    before = readKeys() // it names the line from which Enter reads on, and at the end the answer
    if (!isOver()) chat.press('enter')
  }
}
