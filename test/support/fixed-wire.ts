import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The value of a field: text, number, flag, bytes, message, list or map. */
export type FixedValue = string | number | boolean | Uint8Array | FixedMessage | FixedValue[]
export type FixedMessage = { [field: string]: FixedValue }

interface Field {
  name: string
  number: number
  type: string
  isRepeated: boolean
  isOptional: boolean
}

interface Message {
  fields: Field[]
  /** Exactly one of the fields must be set. */
  isOneof: boolean
}

/** The messages of the fixed protocol, from a table that never changes; no code of the product is used. */
const MESSAGES: ReadonlyMap<string, Message> = readTable()

/** Encodes a message as typed clients do: fields in order of their numbers, no defaults, nothing unknown. */
export function encodeFixed(name: string, value: FixedMessage): Buffer {
  const { fields } = findMessage(name)
  const unknown = Object.keys(value).find((key) => !fields.some((field) => field.name === key))
  if (unknown !== undefined) throw new Error(`${name} has no field ${unknown}`)
  const sorted = fields.toSorted((a, b) => a.number - b.number)
  return Buffer.concat(sorted.map((field) => encodeField(field, value[field.name])))
}

/**
 * Decodes a message as typed clients do: skips fields with unknown numbers, and throws when a required case is
 * missing.
 */
export function decodeFixed(name: string, bytes: Buffer): FixedMessage {
  const { fields, isOneof } = findMessage(name)
  const value: FixedMessage = {}
  for (const { number, payload } of readFields(bytes)) {
    const field = fields.find((one) => one.number === number)
    if (!field) continue
    const one = decodeValue(field.type, payload)
    if (field.isRepeated) value[field.name] = [...((value[field.name] as FixedValue[]) ?? []), one]
    else value[field.name] = one
  }
  if (isOneof && Object.keys(value).length === 0) throw new Error(`empty ${name}`)
  return value
}

function encodeField({ number, type, isRepeated, isOptional }: Field, value: FixedValue | undefined): Buffer {
  if (value === undefined) return Buffer.alloc(0)
  if (isRepeated) {
    const one = { name: '', number, type, isRepeated: false, isOptional: true }
    return Buffer.concat((value as FixedValue[]).map((entry) => encodeField(one, entry)))
  }
  if (!isOptional && (value === '' || value === 0 || value === false)) return Buffer.alloc(0)
  if (typeof value === 'number' || typeof value === 'boolean') {
    return Buffer.concat([varint(number << 3), varint(Number(value))])
  }
  const payload =
    typeof value === 'string'
      ? Buffer.from(value)
      : value instanceof Uint8Array
        ? Buffer.from(value)
        : encodeFixed(type, value as FixedMessage)
  return Buffer.concat([varint((number << 3) | 2), varint(payload.length), payload])
}

function decodeValue(type: string, payload: Buffer | number): FixedValue {
  if (typeof payload === 'number') return type === 'bool' ? payload !== 0 : payload
  if (type === 'string') return new TextDecoder('utf-8', { fatal: true }).decode(payload)
  if (type === 'bytes' || type.startsWith('map<')) return payload
  return decodeFixed(type, payload)
}

function* readFields(bytes: Buffer): Generator<{ number: number; payload: Buffer | number }> {
  let at = 0
  const read = () => {
    let value = 0
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++]
      if (byte === undefined) throw new Error('a varint is cut')
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
    }
  }
  while (at < bytes.length) {
    const key = read()
    const wire = key & 7
    const length = wire === 2 ? read() : wire === 1 ? 8 : wire === 5 ? 4 : 0
    if (wire === 0) {
      yield { number: key >>> 3, payload: read() }
      continue
    }
    if (length === 0 && wire !== 2) throw new Error(`wire type ${wire} is unknown`)
    if (at + length > bytes.length) throw new Error('a field is cut')
    at += length
    if (wire === 2) yield { number: key >>> 3, payload: bytes.subarray(at - length, at) }
  }
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80)
  return Buffer.from([...bytes, rest])
}

function findMessage(name: string): Message {
  const message = MESSAGES.get(name)
  if (!message) throw new Error(`The fixed protocol has no message ${name}`)
  return message
}

function readTable(): Map<string, Message> {
  const path = join(import.meta.dirname, '../core/protocol/fixtures/wire-messages.txt')
  const rows = readFileSync(path, 'utf8').split('\n')
  return new Map(rows.filter((row) => row.startsWith('message ')).map(readRow))
}

function readRow(row: string): [string, Message] {
  const [, name = '', oneof, text = ''] = /^message (\w+)( \(oneof \w+\))?: ?(.*?)(?: {3}reserved .*)?$/.exec(
    row,
  )!
  const fields = [...text.matchAll(/(\w+)=(\d+):(optional |repeated )?(map<[^>]+>|\w+)/g)].map(
    ([, field = '', number, label, type = '']) => ({
      name: field,
      number: Number(number),
      type,
      isRepeated: label === 'repeated ' || type.startsWith('map<'),
      isOptional: label === 'optional ' || oneof !== undefined,
    }),
  )
  return [name, { fields, isOneof: oneof !== undefined }]
}
