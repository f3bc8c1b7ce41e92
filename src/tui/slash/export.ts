import { toCrabError } from '../../core/base/errors.ts'
import { pluralize } from '../../core/base/format.ts'
import { conversationMarkdown } from '../../core/protocol/conversation-markdown.ts'
import { readAnswersBackwards } from '../../core/protocol/read-messages.ts'
import { printNotice } from './print.ts'
import type { SlashContext } from './types.ts'

/** `/copy [N]`: copies the last answer, or the Nth last, as the model wrote it. */
export async function copyAnswer(args: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  const nth = args === '' ? 1 : Number(args)
  if (!Number.isSafeInteger(nth) || nth < 1)
    return printNotice(context, 'warning', `Cannot copy ${args}: it is not a whole number from 1`)
  const { session } = context.state()
  if (session === undefined) return printNotice(context, 'info', 'No answer to copy yet')
  let at = 0
  for await (const answer of readAnswersBackwards(context.dispatch, session, signal)) {
    at += 1
    if (at < nth) continue
    printNotice(context, 'success', await context.ports.copy(answer))
    return
  }
  const few = `There ${at === 1 ? 'is' : 'are'} only ${pluralize(at, 'answer')}`
  printNotice(context, 'info', at === 0 ? 'No answer to copy yet' : few)
}

/** `/export [FILE]`: writes the whole conversation into a new file, as HTML if its name ends in .html, else as Markdown. */
export async function slashExport(args: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  const { session, title } = context.state()
  if (session === undefined) return printNotice(context, 'info', 'No conversation to export yet')
  const render = /\.html?$/i.test(args)
    ? (await import('../../core/protocol/conversation-html.ts')).conversationHtml
    : conversationMarkdown
  const text = (await Array.fromAsync(render(context.dispatch, session, signal))).join('')
  const path =
    args === ''
      ? await writeNamed(defaultFileName(title, context.ports.now()), text, context)
      : await context.ports.writeNewFile(args, text)
  printNotice(context, 'success', `Written to ${path}`)
}

/** Writes a file with a generated name; when the name exists, it appends the next free number. */
async function writeNamed(name: string, text: string, { ports }: SlashContext): Promise<string> {
  for (let number = 1; ; number++) {
    try {
      return await ports.writeNewFile(number === 1 ? `${name}.md` : `${name}-${number}.md`, text)
    } catch (reason) {
      if (toCrabError(reason).kind !== 'conflict' || number >= MAX_NAMES) throw reason
    }
  }
}

const MAX_NAMES = 99
const MAX_LETTERS = 60

/**
 * Builds a name like `fix-the-tests-2026-01-02` from the letters and digits of the title, in any script, and
 * the date.
 */
function defaultFileName(title: string, now: number): string {
  const words = title.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? ['conversation']
  const day = new Date(now).toISOString().slice(0, 10)
  const name = words
    .join('-')
    .slice(0, MAX_LETTERS)
    .toWellFormed()
    .replace(/[-\ufffd]+$/, '')
  return `${name}-${day}`
}
