import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  decodeHeader,
  decodeLines,
  decodeSession,
  encodeHeader,
  encodeLines,
} from '../../../src/core/storage/session-file.ts'
import type { NewLine, SessionLine } from '../../../src/core/storage/types.ts'
import { propertyRuns } from '../../support/property-runs.ts'
import { newLine } from './arbitraries.ts'
import { makeHeader, toLine } from './samples.ts'

const header = makeHeader()
const now = Date.UTC(2026, 0, 2)
const ts = '2026-01-02T00:00:00.000Z'
const garbage = fc
  .uint8Array({ minLength: 1, maxLength: 60 })
  .map((bytes) => Buffer.from(bytes.filter((byte) => byte !== 0x0a)))

test('encodeHeader() and encodeLines() write the documented format', () => {
  const lines: NewLine[] = [
    toLine('hello\nthere'),
    { kind: 'entry', role: 'tool', content: 'ok', tool_call_id: 'c1', name: 'read', is_error: false },
    { kind: 'event', event: 'tool_result', call_id: 'c1', duration_ms: 12, is_error: false },
    { kind: 'meta', title: 'A title' },
  ]
  assert.equal(
    encodeHeader(header) + encodeLines(lines, 0, now).join(''),
    `{"v":1,"agent":"crab","agent_id":"01J00000000000000000000000","created_by":"user","created_at":"2026-01-01T00:00:00.000Z","cwd":"/work"}
{"seq":1,"ts":"${ts}","kind":"entry","role":"user","content":"hello\\nthere"}
{"seq":2,"ts":"${ts}","kind":"entry","role":"tool","content":"ok","tool_call_id":"c1","name":"read","is_error":false}
{"seq":3,"ts":"${ts}","kind":"event","event":"tool_result","call_id":"c1","duration_ms":12,"is_error":false}
{"seq":4,"ts":"${ts}","kind":"meta","title":"A title"}
`,
  )
})

test('encodeLines() stamps lines again that were read from another session', () => {
  const copied: SessionLine = { seq: 77, ts: 'old', kind: 'entry', role: 'user', content: 'hello' }
  assert.match(encodeLines([copied], 3, now)[0]!, /^\{"seq":4,"ts":"2026-01-02T00:00:00.000Z","kind":"entry"/)
})

test('decodeSession() returns what was written, for any contents', () => {
  fc.assert(
    fc.property(fc.array(newLine), (lines) => {
      const bytes = encode(lines)
      const part = decodeSession(bytes)
      assert.deepEqual(part.warnings, [])
      assert.deepEqual(part.header, header)
      assert.deepEqual(part.cursor, { bytes: bytes.length, seq: lines.length })
      const expected = lines.map((line, index) => JSON.parse(JSON.stringify({ seq: index + 1, ts, ...line })))
      assert.deepEqual(JSON.parse(JSON.stringify(part.lines)), expected)
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

test('decodeSession() of a file cut at any byte returns the whole lines, without a warning', () => {
  fc.assert(
    fc.property(fc.array(newLine, { minLength: 1, maxLength: 6 }), fc.nat(), (lines, at) => {
      const bytes = encode(lines)
      const start = encodeHeader(header).length
      const cut = start + (at % (bytes.length - start + 1))
      const whole = decodeSession(bytes)
      const part = decodeSession(bytes.subarray(0, cut))
      assert.deepEqual(part.lines, whole.lines.slice(0, part.lines.length))
      assert.equal(part.cursor.seq, part.lines.length)
      assert.equal(part.cursor.bytes, bytes.subarray(0, cut).lastIndexOf(10) + 1)
      assert.deepEqual(part.warnings, [])
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

test('decodeSession() keeps every line with any garbage between them', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(newLine, garbage), { maxLength: 12 }), (parts) => {
      const part = decodeSession(encodeWithGarbage(parts))
      const written = parts.filter((each) => !Buffer.isBuffer(each))
      const lines = part.lines.filter((line) => line.ts === ts).map(withoutStamp)
      assert.deepEqual(lines, JSON.parse(JSON.stringify(written)))
      assertRising(part.lines)
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

test('decodeLines() from the end of any line returns the rest of decodeSession()', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(newLine, garbage), { maxLength: 8 }), fc.nat(), (parts, pick) => {
      const bytes = encodeWithGarbage(parts)
      const ends = [...bytes.keys()].filter((index) => bytes[index] === 10).map((index) => index + 1)
      const end = ends[pick % ends.length]!
      const before = decodeSession(bytes.subarray(0, end))
      const after = decodeLines(bytes.subarray(end), { header, since: before.cursor })
      const whole = decodeSession(bytes)
      assert.deepEqual([...before.lines, ...after.lines], whole.lines)
      assert.deepEqual(after.cursor, whole.cursor)
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

test('decodeSession() accepts files of editors and other writers', () => {
  const [first, second] = encodeLines([toLine('one'), toLine('two')], 0, now)
  for (const [what, text] of [
    ['CRLF', (encodeHeader(header) + first + second).replaceAll('\n', '\r\n')],
    ['a byte order mark', `\uFEFF${encodeHeader(header)}${first}${second}`],
    ['blank lines', `${encodeHeader(header)}\n${first}\n  \n${second}\n\n`],
  ] as const) {
    const part = decodeSession(Buffer.from(text))
    assert.deepEqual(part.warnings, [], what)
    assert.deepEqual(part.header, header, what)
    assert.deepEqual(
      part.lines.map((line) => line.seq),
      [1, 2],
      what,
    )
  }
})

test('decodeSession() fills in missing keys and keeps unknown ones', () => {
  const text = [
    '{"kind":"entry","role":"user","from":"the future"}',
    '{"kind":"event","event":"tool_result","call_id":null}',
    '{"kind":"compact"}',
    '{"kind":"meta","title":null,"summary":"s"}',
  ]
  const { lines, warnings } = decodeSession(Buffer.from(`${encodeHeader(header)}${text.join('\n')}\n`))
  const at = header.created_at
  assert.deepEqual(warnings, [])
  assert.deepEqual(lines as unknown, [
    { kind: 'entry', role: 'user', from: 'the future', content: '', seq: 1, ts: at },
    { kind: 'event', event: 'tool_result', call_id: '', duration_ms: 0, is_error: false, seq: 2, ts: at },
    { kind: 'compact', archive_name: '', archived_at: '', title: '', seq: 3, ts: at },
    { kind: 'meta', summary: 's', seq: 4, ts: at },
  ])
})

test('decodeSession() skips kinds and events of newer builds without a warning', () => {
  const text = '{"seq":1,"kind":"dream"}\n{"seq":2,"kind":"event","event":"dreamt"}\n'
  const part = decodeSession(Buffer.from(encodeHeader(header) + text))
  assert.deepEqual([part.lines, part.warnings, part.cursor.seq], [[], [], 2])
})

test('decodeSession() reports an invalid line, and why', () => {
  for (const [line, why] of [
    ['no json', 'it is not a JSON object'],
    ['[1]', 'it is not a JSON object'],
    ['{"content":"x"}', 'it has no kind'],
    ['{"kind":"entry","content":"x"}', 'it is not a usable entry'],
    ['{"kind":"entry","role":"system"}', 'it is not a usable entry'],
    ['{"kind":"entry","role":"tool"}', 'it is not a usable entry'],
    ['{"kind":"entry","role":"user","content":[]}', 'it is not a usable entry'],
    ['{"kind":"entry","role":"user","tool_calls":{}}', 'it is not a usable entry'],
    ['{"kind":"entry","role":"user","tool_calls":[null]}', 'it is not a usable entry'],
    ['{"kind":"entry","role":"user","tool_calls":[{"id":"1"}]}', 'it is not a usable entry'],
    [
      '{"kind":"entry","role":"user","attachments":[{"data":1,"media_type":"a"}]}',
      'it is not a usable entry',
    ],
    ['{"kind":"event","event":"done","usage":{"input":1}}', 'it is not a usable event'],
    ['{"kind":"event","event":"undone","files":[{"path":"/f"}]}', 'it is not a usable event'],
    ['{"kind":"meta","title":7}', 'it is not a usable meta'],
  ] as const) {
    const part = decodeSession(
      Buffer.from(`${encodeHeader(header)}${line}\n${encodeLines([toLine('x')], 1, now)[0]}`),
    )
    assert.deepEqual(part.warnings, [`Line 2 of the session was skipped: ${why}`], line)
    assert.deepEqual(
      part.lines.map(({ seq }) => seq),
      [2],
      line,
    )
  }
})

test('decodeSession() limits its warnings to a readable number', () => {
  const part = decodeSession(Buffer.from(`${encodeHeader(header)}${'?\n'.repeat(1000)}`))
  assert.equal(part.warnings.length, 11)
  assert.equal(part.warnings.at(-1), 'More lines of the session were skipped')
})

test('decodeSession() makes seq increase even where a file says otherwise', () => {
  const seqs = ['5', '5', '"6"', '2.5', '-1', '20']
  const text = seqs.map((seq) => `{"seq":${seq},"kind":"meta"}\n`).join('')
  const part = decodeSession(Buffer.from(encodeHeader(header) + text))
  assert.deepEqual(
    part.lines.map(({ seq }) => seq),
    [5, 6, 7, 8, 9, 20],
  )
})

test('decodeSession() keeps the conversation of a file whose header is lost', () => {
  const lines = encodeLines([toLine('one'), toLine('two')], 0, now).join('')
  const cut = decodeSession(Buffer.from(lines))
  assert.deepEqual(
    cut.lines.map(({ seq }) => seq),
    [1, 2],
  )
  assert.deepEqual(cut.warnings, ['The first line of the session is missing'])
  const damaged = decodeSession(Buffer.from(`\0\0\0\n${lines}`))
  assert.deepEqual(damaged.lines, cut.lines)
  assert.deepEqual(damaged.warnings, ['The first line of the session cannot be read'])
  const empty = decodeSession(Buffer.of())
  assert.deepEqual(empty.cursor, { bytes: 0, seq: 0 })
})

test('decodeHeader() fills in missing keys, keeps unknown ones, and reports a newer format', () => {
  const old = decodeHeader(Buffer.from('{"created_by":"me","mood":"good","forked_from":3}\n')).header
  assert.deepEqual(old as unknown, {
    v: 1,
    agent: '',
    agent_id: '',
    created_by: 'me',
    created_at: '1970-01-01T00:00:00.000Z',
    cwd: '',
    mood: 'good',
  })
  assert.match(decodeHeader(Buffer.from(encodeHeader({ ...header, v: 2 }))).warnings[0]!, /newer version/)
})

function encode(lines: readonly NewLine[]): Buffer {
  return Buffer.from(encodeHeader(header) + encodeLines(lines, 0, now).join(''))
}

/** Mixes lines with garbage; `seq` is what a writer that knows of the garbage would assign. */
function encodeWithGarbage(parts: readonly (NewLine | Buffer)[]): Buffer {
  const newline = Buffer.from('\n')
  const encoded = parts.map((part, index) =>
    Buffer.isBuffer(part) ? Buffer.concat([part, newline]) : Buffer.from(encodeLines([part], index, now)[0]!),
  )
  return Buffer.concat([Buffer.from(encodeHeader(header)), ...encoded])
}

function withoutStamp({ seq: _seq, ts: _ts, ...line }: SessionLine): unknown {
  return JSON.parse(JSON.stringify(line))
}

function assertRising(lines: readonly SessionLine[]): void {
  for (const [index, { seq }] of lines.entries()) assert.ok(seq > (lines[index - 1]?.seq ?? 0))
}

test('decodeSession() reads decisions about calls, and the file versions that were shown', () => {
  const decision = { call_id: 'a', name: 'bash', effect: 'allow', by: 'person', reason: 'ann allowed it' }
  const lines = [
    {
      seq: 1,
      ts: '',
      kind: 'event',
      event: 'permission',
      ...decision,
      grant: 'session',
      rules: ['bash(npm test)'],
    },
    {
      seq: 2,
      ts: '',
      kind: 'event',
      event: 'tool_result',
      call_id: 'a',
      files: [{ path: '/a', version: '1' }],
    },
  ]
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  const part = decodeSession(Buffer.from(encodeHeader(header) + text))
  assert.deepEqual(part.lines, [lines[0], { ...lines[1], duration_ms: 0, is_error: false }])
  assert.deepEqual(part.warnings, [])
})

test('decodeSession() reads which tools were used, and skips a line with invalid tool names', () => {
  const lines = [
    { seq: 1, ts: '', kind: 'event', event: 'tools_used', tools: ['mcp__a__b'] },
    { seq: 2, ts: '', kind: 'event', event: 'tools_used', tools: [7] },
  ]
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  const part = decodeSession(Buffer.from(encodeHeader(header) + text))
  assert.deepEqual(part.lines, [lines[0]])
  assert.equal(part.warnings.length, 1)
})
