import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  readContentArgument,
  readEditsArgument,
  readPathArgument,
  readRangeArgument,
} from '../../../../src/core/hooks/files/arguments.ts'

test('readPathArgument() accepts the names that other tools use', () => {
  for (const name of ['path', 'file_path', 'filePath', 'filename', 'file'])
    assert.equal(readPathArgument('read', { [name]: 'a', path: name === 'path' ? 'a' : null }), 'a')
})

test('readRangeArgument() accepts null, text and zero', () => {
  const whole = { offset: 1, limit: undefined }
  for (const args of [
    {},
    { offset: null, limit: null },
    { offset: '', limit: '' },
    { offset: 0 },
    { offset: '0' },
  ])
    assert.deepEqual(readRangeArgument(args), whole)
  assert.deepEqual(readRangeArgument({ offset: '12', limit: 3 }), { offset: 12, limit: 3 })
})

test('readEditsArgument() accepts a list, one edit, JSON, and an edit next to the path', () => {
  const one = { old: 'a', new: 'b' }
  const expected = [{ ...one, all: false }]
  const forms: object[] = [
    { edits: [one] },
    { edits: one },
    { edits: JSON.stringify([one]) },
    { edits: null, ...one },
    { edits: [{ ...one, all: null, why: 'because' }] },
    { edits: [{ old_string: 'a', new_string: 'b', replace_all: false }] },
    { path: 'x', oldText: 'a', newText: 'b' },
    { old_str: 'a', new_str: 'b', replaceAll: 'false' },
  ]
  for (const form of forms) assert.deepEqual(readEditsArgument({ ...form }), expected, JSON.stringify(form))
  for (const all of [true, 'true'])
    assert.deepEqual(readEditsArgument({ edits: [{ ...one, all }] }), [{ ...one, all: true }])
})

test('readContentArgument() accepts an empty text', () =>
  assert.equal(readContentArgument({ content: '' }), ''))

const edit = (item: unknown) => () => readEditsArgument({ edits: [{ old: 'a', new: 'b' }, item] })
const REFUSED: [() => unknown, RegExp][] = [
  [() => readPathArgument('read', {}), /^Cannot read: path is missing$/],
  [() => readPathArgument('edit', { path: null }), /^Cannot edit: path is missing$/],
  [() => readPathArgument('read', { path: 7 }), /^Cannot read: path must be a string$/],
  [() => readPathArgument('read', { path: '' }), /^Cannot read: path must not be empty$/],
  [() => readPathArgument('read', { path: 'a\0b' }), /path has a NUL character$/],
  [() => readPathArgument('write', { path: 'a/' }), /^Cannot write: path must name a file, not a folder$/],
  ...[-1, 1.5, 'x', '1e3', Number.NaN, true, {}].map((offset): [() => unknown, RegExp] => [
    () => readRangeArgument({ offset }),
    /^Cannot read: offset must be a whole number of at least 1$/,
  ]),
  [() => readRangeArgument({ limit: 0 }), /^Cannot read: limit must be a whole number of at least 1$/],
  [() => readContentArgument({}), /^Cannot write: content is missing$/],
  [() => readContentArgument({ content: { a: 1 } }), /^Cannot write: content must be a string$/],
  [() => readContentArgument({ content: '\ud800' }), /content has half of a surrogate pair$/],
  [() => readEditsArgument({}), /^Cannot edit: old is missing$/],
  [() => readEditsArgument({ edits: [] }), /^Cannot edit: edits must not be empty$/],
  [() => readEditsArgument({ edits: '[{' }), /^Cannot edit: edits must be an array of \{old, new\}$/],
  [() => readEditsArgument({ edits: 7 }), /^Cannot edit: edits must be an array/],
  [edit('a'), /^Cannot edit: edits\[1\] must be an object \{old, new\}$/],
  [edit({ old: 'a' }), /^Cannot edit: edits\[1\]\.new is missing$/],
  [edit({ old: 1, new: 'b' }), /^Cannot edit: edits\[1\]\.old must be a string$/],
  [edit({ old: '', new: 'b' }), /^Cannot edit: edits\[1\]\.old must not be empty$/],
  [edit({ old: 'a', new: 'a' }), /^Cannot edit: edits\[1\]\.old and new are the same$/],
  [edit({ old: 'a', new: 'b', all: 'yes' }), /^Cannot edit: edits\[1\]\.all must be true or false$/],
]
test('invalid arguments are rejected with the name of their field', () => {
  for (const [parse, message] of REFUSED) assert.throws(parse, { kind: 'invalid', message })
})
