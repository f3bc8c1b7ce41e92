import type { Finish, TokenCounts, WireWriter } from './model-wire.ts'

/** Writes response events, as `POST /v1/responses` with `stream: true` answers, at OpenAI and at Azure. */
export function responsesWriter(model: string): WireWriter {
  let sequence = 0
  let output = -1
  let open: { id: string; text: string } | undefined
  const event = (type: string, fields: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence++, ...fields })}\n\n`
  const response = (more: object) => ({
    response: { id: 'resp_1', object: 'response', created_at: 1, model, output: [], ...more },
  })
  const added = (item: object) => event('response.output_item.added', { output_index: ++output, item })
  const done = (item: object) => event('response.output_item.done', { output_index: output, item })
  const at = (item: string, fields: object) => ({ item_id: item, output_index: output, ...fields })
  const endText = () => {
    if (open === undefined) return ''
    const { id, text } = open
    open = undefined
    const part = { type: 'output_text', text, annotations: [] }
    return [
      event('response.output_text.done', at(id, { content_index: 0, text })),
      event('response.content_part.done', at(id, { content_index: 0, part })),
      done({ id, type: 'message', role: 'assistant', status: 'completed', content: [part] }),
    ].join('')
  }
  const beginText = () => {
    const id = `msg_${output + 1}`
    open = { id, text: '' }
    const item = added({ id, type: 'message', role: 'assistant', status: 'in_progress', content: [] })
    const part = { type: 'output_text', text: '', annotations: [] }
    return item + event('response.content_part.added', at(id, { content_index: 0, part }))
  }
  const thought = (text: string | undefined, content: string) => {
    const id = `rs_${output + 1}`
    const summary = text === undefined ? [] : [{ type: 'summary_text', text }]
    const place = (more: object) => at(id, { summary_index: 0, ...more })
    return [
      endText() + added({ id, type: 'reasoning', summary: [] }),
      ...(text === undefined
        ? []
        : [
            event(
              'response.reasoning_summary_part.added',
              place({ part: { type: 'summary_text', text: '' } }),
            ),
            event('response.reasoning_summary_text.delta', place({ delta: text })),
            event('response.reasoning_summary_text.done', place({ text })),
            event('response.reasoning_summary_part.done', place({ part: summary[0] })),
          ]),
      done({ id, type: 'reasoning', summary, encrypted_content: content }),
    ].join('')
  }
  return {
    begin: () =>
      event('response.created', response({ status: 'in_progress' })) +
      event('response.in_progress', response({ status: 'in_progress' })),
    part(part) {
      if (typeof part === 'string') {
        const opened = open ? '' : beginText()
        open!.text += part
        return opened + event('response.output_text.delta', at(open!.id, { content_index: 0, delta: part }))
      }
      if ('redacted' in part) return thought(undefined, part.redacted)
      if ('thinking' in part) return thought(part.thinking, part.signature ?? '')
      const { call, name, args } = part
      const id = `fc_${output + 1}`
      const half = Math.ceil(args.length / 2)
      const item = { id, type: 'function_call', call_id: call, name }
      return [
        endText() + added({ ...item, status: 'in_progress', arguments: '' }),
        event('response.function_call_arguments.delta', at(id, { delta: args.slice(0, half) })),
        event('response.function_call_arguments.delta', at(id, { delta: args.slice(half) })),
        event('response.function_call_arguments.done', at(id, { arguments: args })),
        done({ ...item, status: 'completed', arguments: args }),
      ].join('')
    },
    finish(reason, usage) {
      const why = INCOMPLETE[reason]
      const type = why === undefined ? 'completed' : 'incomplete'
      const details = { incomplete_details: why === undefined ? null : { reason: why } }
      const end = response({ status: type, ...details, ...(usage && { usage: responseUsage(usage) }) })
      return endText() + event(`response.${type}`, end)
    },
    error: ({ message, code }) =>
      event('error', { code: code === undefined ? null : String(code), message, param: null }),
  }
}

function responseUsage({ input, output, cacheRead = 0, reasoning = 0 }: TokenCounts): object {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cacheRead },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  }
}

const INCOMPLETE: Partial<Record<Finish, string>> = {
  length: 'max_output_tokens',
  refused: 'content_filter',
}
