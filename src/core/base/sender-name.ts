import { findDeceptive, withoutEmoji } from './deceptive-text.ts'
import { CrabError } from './errors.ts'

/**
 * Throws an error of that kind for a sender that a list would show as empty or as another name: one with
 * control characters, invisible or deceptive characters, or a blank at either end. Letters of every script
 * and emoji are allowed.
 */
export function checkSender(sender: string, kind: 'invalid' | 'usage'): void {
  const char = findUnprintable(sender)
  if (char !== undefined) {
    const code = char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')
    const why = CONTROL.test(char)
      ? `it has the control character U+${code}`
      : `it has the character U+${code}, which is invisible or looks like another character`
    throw unusable(kind, sender.replaceAll(char, '\ufffd'), { why, hint: 'leave out the character' })
  }
  if (hasOuterBlank(sender)) {
    throw unusable(kind, sender, { why: 'it starts or ends with a space', hint: 'leave out the space' })
  }
}

/** Whether every character of a sender is visible, and no blank is at either end. */
export function isPrintableSender(sender: string): boolean {
  return findUnprintable(sender) === undefined && !hasOuterBlank(sender)
}

function findUnprintable(sender: string): string | undefined {
  return CONTROL.exec(sender)?.[0] ?? findDeceptive(withoutEmoji(sender))
}

function hasOuterBlank(sender: string): boolean {
  return sender.startsWith(' ') || sender.endsWith(' ')
}

function unusable(
  kind: 'invalid' | 'usage',
  sender: string,
  { why, hint }: { why: string; hint: string },
): CrabError {
  const visible = sender.replace(new RegExp(CONTROL, 'gu'), '\ufffd')
  return new CrabError(kind, `Cannot use the sender ${JSON.stringify(visible)}: ${why}`, { hint })
}

/** Matches control characters and lone surrogates. It uses ranges, which add nothing to the start-up time. */
const CONTROL = /[^ -~\xa0-\ud7ff\ue000-\u{10ffff}]/u
