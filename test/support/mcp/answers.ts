import { type Id, isAnswer, type Layer, type Message, toAnswer } from './message.ts'
import type { AnswerFault, ServerOptions } from './options.ts'

/** An id that no client uses. */
export const UNKNOWN_ID = 987_654_321

/** Replaces what the server claims in the handshake. */
export function claimsLayer({ protocol, capabilities }: ServerOptions): Layer {
  return ({ send }) => ({
    send(message) {
      if (message.result?.['protocolVersion'] === undefined) return send(message)
      const claims = {
        ...(protocol === undefined ? {} : { protocolVersion: protocol }),
        ...(capabilities === undefined ? {} : { capabilities }),
      }
      return send({ ...message, result: { ...message.result, ...claims } })
    },
  })
}

/** Breaks answers in these ways: repeated, unrequested, with another id, or for a cancelled request. */
export function answersLayer({ answers = [] }: ServerOptions): Layer {
  const has = (fault: AnswerFault) => answers.includes(fault)
  return ({ send, receive }) => ({
    async send(message) {
      if (!isAnswer(message)) return send(message)
      const id = has('null-id') ? null : has('text-id') ? String(message.id) : message.id!
      const messages: Message[] = [{ ...message, id }]
      if (has('unknown')) messages.unshift(toAnswer(UNKNOWN_ID, {}))
      if (has('twice')) messages.push({ ...message, id })
      await Promise.all(messages.map(send)) // so that no other message comes in between
    },
    async receive(message) {
      await receive(message)
      if (has('late') && message.method === 'notifications/cancelled')
        await send(
          toAnswer(message.params!['requestId'] as Id, { content: [{ type: 'text', text: 'too late' }] }),
        )
    },
  })
}
