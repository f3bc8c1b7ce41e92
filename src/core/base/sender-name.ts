import { CrabError } from './errors.ts'

/** Throws an error of that kind for a sender with characters that a list shows as nothing, or as another name. */
export function checkSender(sender: string, kind: 'invalid' | 'usage'): void {
  const found = UNPRINTABLE.exec(sender)?.[0]
  if (found === undefined) return
  const code = found.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')
  const shown = JSON.stringify(sender.replace(new RegExp(UNPRINTABLE, 'gu'), '\ufffd'))
  throw new CrabError(kind, `Cannot use the sender ${shown}: it has the control character U+${code}`, {
    hint: 'leave the character out',
  })
}

/** Whether every character of a sender can be shown. */
export function isPrintableSender(sender: string): boolean {
  return !UNPRINTABLE.test(sender)
}

/** Control characters, line separators, marks of direction and halves of surrogate pairs; as ranges, which cost a start nothing. */
const UNPRINTABLE = /[^ -~\xa0-\u2027\u202f-\u2065\u206a-\ud7ff\ue000-\u{10ffff}]/u
