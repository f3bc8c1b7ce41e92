import { converseWriter } from './converse-wire.ts'
import { geminiWriter } from './gemini-wire.ts'
import { chatCompletionWriter, messageWriter, type WireWriter } from './model-wire.ts'
import { responsesWriter } from './responses-wire.ts'

/** Returns the writer for the answers of a provider's path. */
export function writerFor(path: string, model: string): WireWriter {
  const { pathname } = new URL(path, 'http://server')
  if (pathname.endsWith('/messages')) return messageWriter(model)
  if (pathname.endsWith('/responses')) return responsesWriter(model)
  if (pathname.endsWith('/converse-stream')) return converseWriter()
  if (pathname.endsWith(':streamGenerateContent')) return geminiWriter(model)
  return chatCompletionWriter(model)
}
