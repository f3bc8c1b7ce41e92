import type { Session } from './chat-session.ts'

/** What a card shows when digits and arrows count. */
export const TAKES_DIGITS = /^ {3}A digit or arrows/m

/** What a card shows when Enter takes what is selected. */
const TAKES_ENTER = /^ {3}Enter/m

/** Chooses on the card that is shown: a digit when it counts, and Enter when that does. */
export async function chooseDigit(chat: Session, digit: string): Promise<void> {
  await chat.shows(TAKES_DIGITS)
  chat.type(digit)
  await chat.shows(TAKES_ENTER)
  chat.press('enter')
}

/** As chooseDigit(), and reads on to the end of what is asked, page by page, until the screen shows `then`. */
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
