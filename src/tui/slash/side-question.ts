import { toCrabError } from '../../core/base/errors.ts'
import { requestMany } from '../../core/protocol/dispatch.ts'
import { newPage } from '../overlays/page.ts'
import type { PageOverlay } from '../overlays/types.ts'
import { modelToName } from '../state/model-choice.ts'
import { findPage, printNotice, showOverlay } from './print.ts'
import type { SlashContext } from './types.ts'

/**
 * `/btw QUESTION`: answers a question about the conversation in a panel, even while a turn runs. Closing the panel
 * cancels the answer; nothing is stored.
 */
export async function askAside(question: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  if (question === '')
    return printNotice(context, 'info', 'Add a question, for example: /btw what is a lease?')
  const page = newPage(`By the way: ${question}`, WAITING)
  showOverlay(context, page)
  const closed = new AbortController()
  const getPage = () => findPage(context, page.title)
  const stop = context.subscribe(() => {
    if (!getPage()) closed.abort()
  })
  try {
    await showAnswer(question, { context, getPage }, AbortSignal.any([signal, closed.signal]))
  } catch (reason) {
    if (closed.signal.aborted) return
    showText(context, getPage(), toCrabError(reason).message)
  } finally {
    stop()
  }
}

const WAITING = 'Thinking…'

async function showAnswer(
  question: string,
  { context, getPage }: { context: SlashContext; getPage(): PageOverlay | undefined },
  signal: AbortSignal,
): Promise<void> {
  const { agent, sender } = context.state()
  const options = { side: true, model: modelToName(context.state()) }
  const message = { agent, sender, content: question, options }
  let text = ''
  for await (const { event } of requestMany(context.dispatch, 'stream', message, signal)) {
    if (event?.$case === 'chunk') text += event.value.content
    if (event?.$case === 'end' && event.value.error !== '') text += `\n\n${event.value.error}`
    if (text !== '') showText(context, getPage(), text)
  }
  if (text === '') showText(context, getPage(), 'The model returned an empty answer')
}

function showText(context: SlashContext, page: PageOverlay | undefined, text: string): void {
  if (page && page.text !== text) showOverlay(context, { ...newPage(page.title, text), scroll: page.scroll })
}
