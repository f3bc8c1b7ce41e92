import { ClientMessage } from '../../src/core/protocol/crabtalk.generated.ts'
import { type Operation, REPLIES } from '../../src/core/protocol/operations.ts'
import type { Random } from './hostile-bytes.ts'

/** All operations that a daemon survives. */
export const ASKED = (Object.keys(REPLIES) as Operation[]).filter((operation) => operation !== 'shutdown')

/**
 * Generates a decodable message for any operation but `shutdown`. Its fields are chosen at random among
 * valid, invalid and ambiguous values; `words` are further strings.
 */
export function randomRequest(random: Random, words: readonly string[]): ClientMessage {
  const operation = pick(random, ASKED)
  const requestId = random(2) === 0 ? 0 : random(1_000_000)
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const value = randomValue(random, defaultBody(operation), [...WORDS, ...words])
    try {
      const message = ClientMessage.create({ requestId, msg: { $case: operation, value } as never })
      ClientMessage.encode(message)
      return message
    } catch {
      // a field got a value of the wrong type: try again
    }
  }
  return ClientMessage.create({
    requestId,
    msg: { $case: operation, value: defaultBody(operation) } as never,
  })
}

const ATTEMPTS = 5

/** Returns a body with every field at its default. */
function defaultBody(operation: Operation): unknown {
  if (operation === 'extension') return new Uint8Array([1, 2, 3])
  return ClientMessage.create({ msg: { $case: operation, value: {} } as never }).msg?.value
}

function randomValue(random: Random, value: unknown, words: readonly string[]): unknown {
  if (random(3) === 0) return value // keeps the default
  if (typeof value === 'string') return pick(random, words)
  if (typeof value === 'number') return pick(random, NUMBERS)
  if (typeof value === 'boolean') return random(2) === 0
  if (value instanceof Uint8Array) return Uint8Array.from({ length: random(100) }, () => random(256))
  if (Array.isArray(value)) return Array.from({ length: random(4) }, () => pick(random, words))
  if (value === undefined) return pick(random, [undefined, pick(random, words), pick(random, NUMBERS), {}])
  const fields = Object.entries(value as object)
  return Object.fromEntries(fields.map(([name, field]) => [name, randomValue(random, field, words)]))
}

function pick<T>(random: Random, from: readonly T[]): T {
  return from[random(from.length)]!
}

const NUMBERS = [0, 1, 2, 7, 255, 65_536, 2 ** 31 - 1]

const WORDS: readonly string[] = [
  '',
  'crab',
  'user',
  'ann',
  'delegate:01ARZ3NDEKTSV4RRFFQ69G5FAV',
  'event:x',
  'helper',
  'Ünïcode-名前',
  '..',
  '../../outside',
  '/etc/passwd',
  'a/b',
  'a\0b',
  '\n',
  '\ud800',
  'x'.repeat(5000),
  '{}',
  '[]',
  'null',
  '{"description":"fuzz"}',
  '{"name":"srv","command":"true"}',
  '{"name":"srv","url":"http://127.0.0.1:9/"}',
  '{"type":"object"}',
  'bash',
  'bash(ls *)',
  'read',
  '*',
  'demo',
  'scripted',
  '01ARZ3NDEKTSV4RRFFQ69G5FAV',
  '0123456789abcdef-01ARZ3NDEKTSV4RRFFQ69G5FAV',
  'agent:crab:done',
  '=cmd',
  '-s',
  '__proto__',
  'constructor',
]
