import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { REPLIES } from '../../../src/core/protocol/operations.ts'
import { type ProtoMessage, readProto } from '../../support/proto.ts'

// The table is the wire for clients in other languages: nothing in it may ever change.
const TABLE = readFileSync(join(import.meta.dirname, 'fixtures/wire-messages.txt'), 'utf8')
const rows = TABLE.trimEnd().split('\n').map(toRow)
const proto = readProto()

/** Additions below 60, which the design numbered before the rule existed. */
const EARLY = [
  'SendMsg.detach=8',
  'SendMsg.options=9',
  'StreamMsg.detach=8',
  'StreamMsg.options=9',
  'ToolCallInfo.call_id=3',
]

const ADDED_OPERATIONS = {
  auth: 61,
  hello: 62,
  new_session: 63,
  fork_session: 64,
  activate_session: 65,
  set_title: 66,
  generate_title: 67,
  list_messages: 68,
  get_session: 69,
  search_sessions: 70,
  search_memory: 71,
  list_memory: 72,
  memory_op: 73,
  attach: 74,
  list_asks: 75,
  wait_run: 76,
  mcp_view: 77,
  mcp_action: 78,
  mcp_trace: 79,
  policy_explain: 80,
  undo: 81,
  replace_mcps: 82,
  list_archives: 83,
  trace_event: 84,
  shutdown: 85,
  replace_memory: 86,
  context_view: 87,
  session_diff: 88,
  rewind: 89,
  undo_compaction: 90,
  usage_report: 91,
  set_session_cwd: 92,
  set_session_model: 95,
  list_rules: 93,
  change_rule: 94,
}
/** The operations that are answered by pong. */
const PONGS = ['auth', 'shutdown']

test('the whole table is parsed', () => {
  assert.deepEqual(Object.groupBy(rows, ({ kind }) => kind).message?.length, 77)
  assert.deepEqual(Object.groupBy(rows, ({ kind }) => kind).enum?.length, 4)
})

for (const row of rows) {
  if (row.kind === 'enum') {
    test(`${row.name} has the values of the table, and additions from 60 up`, () => {
      const values = [...proto.enums.get(row.name)!].filter(([, number]) => number < 60)
      assert.deepEqual(new Map(values), new Map(row.entries.map((entry) => toValue(entry))))
    })
    continue
  }
  test(`${row.name} has the fields and reserved tags of the table, and additions from 60 up`, () => {
    const message = proto.messages.get(row.name)!
    const fixed = new Set(row.entries)
    const declared = describeFields(message)
    assert.deepEqual(
      [...fixed].filter((field) => !declared.includes(field)),
      [],
    )
    assert.deepEqual(message.reservedNumbers.toSorted(byNumber), row.reservedNumbers.toSorted(byNumber))
    assert.deepEqual(message.reservedNames.toSorted(), row.reservedNames.toSorted())
    assert.deepEqual(
      message.fields
        .filter((_, index) => !fixed.has(declared[index]!))
        .filter(({ name, number }) => number < 60 && !EARLY.includes(`${row.name}.${name}=${number}`)),
      [],
    )
    const alternatives = message.fields.filter((_, index) => fixed.has(declared[index]!))
    assert.ok(alternatives.every(({ oneof }) => oneof === row.oneof))
  })
}

test('every added operation has its number, and its reply the same number and name', () => {
  const added = ({ fields }: ProtoMessage, from: number) =>
    Object.fromEntries(
      fields
        .filter(({ oneof, number }) => oneof !== undefined && number >= from && number < 100)
        .map(({ name, number }) => [name, number]),
    )
  assert.deepEqual(added(proto.messages.get('ClientMessage')!, 60), ADDED_OPERATIONS)
  const replies = Object.entries(ADDED_OPERATIONS).filter(([name]) => !PONGS.includes(name))
  assert.deepEqual(added(proto.messages.get('ServerMessage')!, 60), Object.fromEntries(replies))
})

test('REPLIES answers every added operation under its own name, or with pong', () => {
  const camelNames = proto.messages
    .get('ClientMessage')!
    .fields.filter(({ name }) => name in ADDED_OPERATIONS && !PONGS.includes(name))
    .map(({ camelName }) => camelName)
  assert.equal(camelNames.length, Object.keys(ADDED_OPERATIONS).length - PONGS.length)
  assert.deepEqual(
    camelNames.map((name) => REPLIES[name as keyof typeof REPLIES]),
    camelNames,
  )
  assert.deepEqual([REPLIES.auth, REPLIES.shutdown], ['pong', 'pong'])
})

interface Row {
  kind: 'message' | 'enum'
  name: string
  oneof: string | undefined
  /** Returns `name=number:type` of a message's fields, `NAME=number` of an enum's values. */
  entries: string[]
  reservedNumbers: number[]
  reservedNames: string[]
}

function toRow(line: string): Row {
  const [, kind, name, oneof, body] = line.match(/^(message|enum)\s+(\w+)(?: \(oneof (\w+)\))?: (.*)$/)!
  const [entries, reserved = ''] = body!.split(/\s+reserved /)
  return {
    kind: kind as Row['kind'],
    name: name!,
    oneof,
    entries: entries === '(empty)' ? [] : entries!.split(/, (?=\w+=)/),
    reservedNumbers: [...reserved.matchAll(/\b\d+\b/g)].map(([number]) => Number(number)),
    reservedNames: [...reserved.matchAll(/"(\w+)"/g)].map((match) => match[1]!),
  }
}

function toValue(entry: string): [string, number] {
  const [name, number] = entry.split('=')
  return [name!, Number(number)]
}

function describeFields({ fields }: ProtoMessage): string[] {
  return fields.map(({ name, number, type }) => `${name}=${number}:${type}`)
}

function byNumber(a: number, b: number): number {
  return a - b
}
