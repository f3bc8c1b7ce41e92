import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { CrabError } from '../../../src/core/base/errors.ts'
import { decodeMessage, encodeReply } from '../../../src/core/protocol/codec.ts'
import {
  ClientMessage,
  ConversationInfo,
  ConversationList,
  type MessageFns,
  ServerMessage,
} from '../../../src/core/protocol/crabtalk.generated.ts'
import { propertyRuns } from '../../support/property-runs.ts'
import { type ProtoField, readProto } from '../../support/proto.ts'

const proto = readProto()
const ENVELOPES = { ClientMessage, ServerMessage } as const

for (const [name, type] of Object.entries<MessageFns<unknown>>(ENVELOPES)) {
  test(`every ${name} is decoded to what was encoded`, () => {
    fc.assert(
      fc.property(arbitraryMessage(name), (message) => {
        assert.deepEqual(decodeMessage(type, type.encode(message).finish()), message)
      }),
      { numRuns: propertyRuns(2000) },
    )
  })

  test(`decodeMessage() returns a ${name} or an invalid error for any bytes`, () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => decodes(type, bytes)),
      { numRuns: propertyRuns(2000) },
    )
  })

  test(`decodeMessage() returns a value or an invalid error for a damaged ${name}`, () => {
    const damage = fc.record({ at: fc.nat(), removed: fc.nat(3), added: fc.uint8Array({ maxLength: 3 }) })
    fc.assert(
      fc.property(arbitraryMessage(name), damage, (message, { at, removed, added }) => {
        const bytes = [...type.encode(message).finish()]
        bytes.splice(at % (bytes.length + 1), removed, ...added)
        decodes(type, Uint8Array.from(bytes))
      }),
      { numRuns: propertyRuns(1000) },
    )
  })
}

test('decodeMessage() decodes texts of any length in a large message', () => {
  const size = fc.nat({ max: 40 })
  const texts = fc.array(
    fc.oneof(
      text,
      fc.tuple(text, size).map(([one, times]) => one.repeat(times * times)),
    ),
  )
  const numbers = fc.array(fc.nat({ max: 2100 }), { minLength: 1 })
  fc.assert(
    fc.property(texts, numbers, (some, lengths) => {
      const fills = Array.from({ length: 200 }, (_, at) => 'a'.repeat(lengths[at % lengths.length]!))
      const conversations = [...fills, ...some, ...fills].map((title, at) =>
        ConversationInfo.create({ title, preview: `${at}`, cwd: some[at % (some.length + 1)] ?? 'home' }),
      )
      const value = ConversationList.create({ conversations, total: Number.MAX_SAFE_INTEGER })
      const message = ServerMessage.create({ msg: { $case: 'conversationList', value } })
      assert.deepEqual(decodeMessage(ServerMessage, ServerMessage.encode(message).finish()), message)
    }),
    { numRuns: propertyRuns(50) },
  )
})

test('decodeMessage() rejects a large message that is damaged', () => {
  const value = ConversationList.create({
    conversations: Array.from({ length: 2000 }, (_, at) =>
      ConversationInfo.create({ title: `the title ${at} é` }),
    ),
  })
  const bytes = ServerMessage.encode(ServerMessage.create({ msg: { $case: 'conversationList', value } }))
  const whole = Buffer.concat([bytes.finish(), ServerMessage.encode(largeError()).finish()])
  assert.equal(decodeMessage(ServerMessage, whole).msg?.$case, 'error')
  for (const [end, message] of [
    [whole.length - 1, /premature EOF/],
    [whole.length - 70_001, /premature EOF|: /],
  ] as const) {
    assert.throws(() => decodeMessage(ServerMessage, whole.subarray(0, end)), { kind: 'invalid', message })
  }
  whole[whole.indexOf('é') + 1] = 0x20
  assert.throws(() => decodeMessage(ServerMessage, whole), { kind: 'invalid', message: /not valid/ })
})

function largeError(): ServerMessage {
  const value = { code: 500, message: 'x'.repeat(70_000) }
  return ServerMessage.create({ msg: { $case: 'error', value } })
}

test('encodeReply() returns the bytes of a reply, also of a list that it encoded before', () => {
  fc.assert(
    fc.property(arbitraryMessage('ServerMessage'), fc.array(fc.maxSafeNat()), (message, ids) => {
      for (const requestId of ids) {
        const reply = { ...message, requestId } as ServerMessage
        assert.deepEqual(Buffer.concat(encodeReply(reply)), Buffer.from(ServerMessage.encode(reply).finish()))
      }
    }),
    { numRuns: propertyRuns(500) },
  )
  const value = ConversationList.create({ conversations: [{ title: 'one' }, { title: 'two' }], total: 2 })
  for (const requestId of [0, 1, 1000]) {
    const reply: ServerMessage = { requestId, msg: { $case: 'conversationList', value } }
    assert.deepEqual(Buffer.concat(encodeReply(reply)), Buffer.from(ServerMessage.encode(reply).finish()))
  }
})

const MALFORMED = {
  'a truncated varint': 'f2',
  'a length past the end': 'f2017f',
  'a tag of field 0': '0000',
  'a stray end of a group': 'f401f20100',
  'a group that never ends': 'f301',
  'an unknown wire type': '07',
  'a number over 2^53': 'ca020b08ffffffffffffffffff01',
}

for (const [what, hex] of Object.entries(MALFORMED)) {
  test(`decodeMessage() rejects ${what}`, () => {
    assert.throws(() => decodeMessage(ClientMessage, Buffer.from(hex, 'hex')), {
      kind: 'invalid',
      message: /^Cannot decode a message: /,
    })
  })
}

test('decodeMessage() rejects groups nested to the frame limit', () => {
  const bytes = Buffer.alloc(16 * 1024 * 1024, 0x0b)
  assert.throws(() => decodeMessage(ClientMessage, bytes), { kind: 'invalid' })
})

test('decodeMessage() skips unknown fields', () => {
  const known = ClientMessage.encode(ClientMessage.create({ msg: { $case: 'ping', value: {} } })).finish()
  const newer = Buffer.concat([known, Buffer.from('c23e0568656c6c6f', 'hex'), Buffer.from('c83e01', 'hex')])
  assert.deepEqual(decodeMessage(ClientMessage, newer), decodeMessage(ClientMessage, known))
})

test('decodeMessage() rejects text that is not UTF-8, and keeps a byte order mark', () => {
  const readSender = (bytes: Uint8Array) => {
    const { msg } = decodeMessage(ClientMessage, Buffer.concat([SEND, Buffer.from([bytes.length]), bytes]))
    return msg?.$case === 'send' ? msg.value.sender : undefined
  }
  const marked = Buffer.from('\ufeffa')
  assert.equal(readSender(marked), '\ufeffa')
  for (const bytes of [
    [0xff, 0xfe, 0x61, 0x61],
    [0xc3, 0x28, 0x61, 0x61],
    [0xed, 0xa0, 0x80, 0x61],
  ]) {
    assert.throws(() => readSender(Uint8Array.from(bytes)), {
      kind: 'invalid',
      message: /^Cannot decode a message: /,
    })
  }
})

/** A `send` with a sender of four bytes, up to its length prefix. */
const SEND = Buffer.from('0a0622', 'hex')

test('decodeMessage() keeps the last case of a oneof that occurs twice', () => {
  assert.deepEqual(decodeMessage(ClientMessage, Buffer.from('f20100820200', 'hex')).msg, {
    $case: 'reload',
    value: {},
  })
})

function decodes(type: MessageFns<unknown>, bytes: Uint8Array): void {
  try {
    assert.equal(typeof decodeMessage(type, bytes), 'object')
  } catch (reason) {
    assert.ok(reason instanceof CrabError)
    assert.equal(reason.kind, 'invalid')
  }
}

/** Generates any message of that name, with every field as decoding returns it. */
function arbitraryMessage(name: string): fc.Arbitrary<Record<string, unknown>> {
  const { fields } = proto.messages.get(name)!
  const oneofs = Map.groupBy(
    fields.filter(({ oneof }) => oneof !== undefined),
    ({ oneof }) => oneof!,
  )
  const plain = fields.filter(({ oneof }) => oneof === undefined)
  return plainRecord({
    ...Object.fromEntries([...oneofs].map(([oneof, cases]) => [oneof, anyCase(cases)])),
    ...Object.fromEntries(plain.map(({ camelName, type }) => [camelName, fieldValue(type)])),
  })
}

function anyCase(cases: readonly ProtoField[]): fc.Arbitrary<unknown> {
  const choices = cases.map(({ camelName, type }) =>
    plainRecord({ $case: fc.constant(camelName), value: presentValue(type) }),
  )
  return fc.option(fc.oneof(...choices), { nil: undefined })
}

/**
 * Generates a value that is present: only a message outside a list and a oneof can be missing without
 * `optional`.
 */
function presentValue(type: string): fc.Arbitrary<unknown> {
  return proto.messages.has(type) ? arbitraryMessage(type) : fieldValue(type)
}

function fieldValue(type: string): fc.Arbitrary<unknown> {
  const [, label, name = type] = type.match(/^(optional|repeated) (\w+)$/) ?? []
  if (label === 'repeated') return fc.array(presentValue(name), { maxLength: 3 })
  if (label === 'optional') return fc.option(presentValue(name), { nil: undefined })
  if (proto.messages.has(type)) return fc.option(arbitraryMessage(type), { nil: undefined })
  const values = proto.enums.get(type)
  if (values !== undefined) return fc.constantFrom(...values.values(), 999)
  return SCALARS[type]!
}

function plainRecord(model: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Record<string, unknown>> {
  return fc.record(model, { noNullPrototype: true })
}

const text = fc.string({ unit: 'binary' })
const SCALARS: Record<string, fc.Arbitrary<unknown>> = {
  string: text,
  bytes: fc.uint8Array({ maxLength: 20 }),
  bool: fc.boolean(),
  uint32: fc.nat(0xffffffff),
  uint64: fc.maxSafeNat(),
  double: fc.double().map((value) => value + 0), // the default is +0, and -0 is not sent
  'map<string, string>': fc.dictionary(
    text.filter((key) => key !== '__proto__'), // cannot be a key of a plain object
    text,
    { noNullPrototype: true, maxKeys: 3 },
  ),
}
