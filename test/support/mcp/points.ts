import { setTimeout as sleep } from 'node:timers/promises'
import { closeStdout, crash, killSelf } from './lifecycle.ts'
import { type Id, isRequest, type Layer, type Message, toAnswer, toErrorAnswer } from './message.ts'
import type { Act, ServerOptions } from './options.ts'
import type { Wire } from './wire.ts'

/** Performs the configured act for a message's method instead of passing the message on, or passes it on late. */
export function pointsLayer({ at = {}, delay = {} }: ServerOptions, wire: Wire): Layer {
  return ({ send, receive }) => ({
    async receive(message) {
      const { method = '' } = message
      if (delay[method] !== undefined) await sleep(delay[method])
      const act = at[method]
      if (act === undefined) return receive(message)
      if (act !== 'error') return perform(act, wire, isRequest(message) ? message.id : null)
      if (isRequest(message)) await send(toErrorAnswer(message.id, -32603, `${method} failed on purpose`))
    },
  })
}

/** Holds messages back until another one has arrived, and passes them on before that one. */
export function lateLayer({ late = {} }: ServerOptions): Layer {
  const arrived = new Set<string>()
  let retained: Message[] = []
  return ({ receive }) => ({
    async receive(message) {
      const { method = '' } = message
      const other = late[method]
      if (other !== undefined && !arrived.has(other)) return void retained.push(message)
      arrived.add(method)
      const due = retained.filter((one) => late[one.method!] === method)
      retained = retained.filter((one) => !due.includes(one))
      for (const one of [...due, message]) await receive(one)
    },
  })
}

/** Performs an act; `id` is that of the request that a torn answer is for. The caller handles `error`. */
export async function perform(act: Act, wire: Wire, id: Id | null): Promise<void> {
  await wire.settled()
  if (act === 'crash') crash()
  if (act === 'exit') process.exit(0)
  if (act === 'kill') killSelf()
  if (act === 'deaf') wire.deafen()
  if (act === 'close') closeStdout()
  if (act === 'torn') {
    const line = JSON.stringify(toAnswer(id, { content: [{ type: 'text', text: 'the end is missing' }] }))
    await wire.print(line.slice(0, line.length / 2))
    process.exit(1)
  }
}
