import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parse } from 'smol-toml'
import type { JsonObject } from '../../../src/core/base/message.ts'
import { editToml } from '../../../src/core/config/toml-edit.ts'
import { renderToml } from '../../../src/core/config/toml-render.ts'
import { propertyRuns } from '../../support/property-runs.ts'
import { tomlTexts } from '../../support/toml-texts.ts'

const AGENT = `# My reviewer.

# Which model: the big one is better at this.
model = "big" # since March
max_iterations = 8

# Reads the notes.
[[mcps]]
name = "notes"
command = "notes-server" # installed by hand
args = ["--read-only"]

# Talks to the tracker.
[[mcps]]
name = "tracker"
url = "https://tracker.example/mcp"
[mcps.headers]
X-Team = "core" # ours

# The end.
`

function edit(text: string, change: (table: JsonObject) => JsonObject): string {
  const before = parse(text)
  const after = change(structuredClone(before))
  const edited = editToml(text, before, after)
  assert.deepEqual(structuredClone(parse(edited)), after)
  return edited
}

test('editToml() replaces a value and keeps the comment after it', () => {
  const edited = edit(AGENT, (table) => ({ ...table, model: 'small' }))
  assert.equal(edited, AGENT.replace('"big" #', '"small" #'))
})

test('editToml() changes a dotted key in place, and keeps the comment after it', () => {
  const text = 'llm.model = "a" # c\nllm.base_url = "http://x" # d\n\n[other]\nsub.model = "b" # e\n'
  const dotted = (table: JsonObject) => {
    const { llm, other } = table as { llm: JsonObject; other: { sub: JsonObject } }
    return { llm: { ...llm, model: 'new' }, other: { sub: { ...other.sub, model: 'newer' } } }
  }
  assert.equal(edit(text, dotted), text.replace('"a" #', '"new" #').replace('"b" #', '"newer" #'))
  const added = edit(text, (table) => ({ ...table, llm: { model: 'new', api_key: 'k' } }))
  assert.match(added, /^sub\.model = "b" # e$/m)
})

test('editToml() adds a new key after the last one of its table', () => {
  const edited = edit(AGENT, (table) => ({ ...table, thinking: true }))
  assert.equal(edited, AGENT.replace('iterations = 8\n', 'iterations = 8\nthinking = true\n'))
})

test('editToml() removes a key with its line and nothing else', () => {
  const edited = edit(AGENT, ({ max_iterations: _, ...rest }) => rest)
  assert.equal(edited, AGENT.replace('max_iterations = 8\n', ''))
})

test('editToml() changes one server and no other', () => {
  const edited = edit(AGENT, ({ mcps, ...rest }) => ({
    ...rest,
    mcps: (mcps as JsonObject[]).map((entry) =>
      entry['name'] === 'notes' ? { ...entry, disabled: true, args: [] } : entry,
    ),
  }))
  assert.equal(edited, AGENT.replace('["--read-only"]\n', '[]\ndisabled = true\n'))
})

test('editToml() changes a key of a table inside a server', () => {
  const edited = edit(AGENT, ({ mcps, ...rest }) => {
    const [notes, tracker] = mcps as JsonObject[]
    return { ...rest, mcps: [notes, { ...tracker, headers: { 'X-Team': 'core', Accept: 'a b' } }] }
  })
  assert.equal(edited, AGENT.replace('# ours\n', '# ours\nAccept = "a b"\n'))
})

test('editToml() removes a server with its comment and keeps the rest', () => {
  const edited = edit(AGENT, ({ mcps, ...rest }) => ({ ...rest, mcps: (mcps as JsonObject[]).slice(1) }))
  const [head = '', tail = ''] = AGENT.split(/# Reads the notes.*?(?=# Talks)/s)
  assert.equal(edited, head + tail)
})

test('editToml() appends a new server', () => {
  const edited = edit(AGENT, ({ mcps, ...rest }) => ({
    ...rest,
    mcps: [...(mcps as JsonObject[]), { name: 'new', command: 'x', env: { A: '1' } }],
  }))
  assert.equal(edited, `${AGENT}\n[[mcps]]\nname = "new"\ncommand = "x"\nenv = { A = "1" }\n`)
})

test('editToml() rewrites the text below its first comment when servers change places', () => {
  const edited = edit(AGENT, ({ mcps, ...rest }) => ({ ...rest, mcps: (mcps as JsonObject[]).toReversed() }))
  assert.match(edited, /^# My reviewer\.\n/)
  assert.ok(edited.indexOf('"tracker"') < edited.indexOf('"notes"'))
})

test('editToml() rewrites the text where it cannot edit, as in a list inside a table', () => {
  const text = '# note\n\n[a]\nz = 1 # lost\n[[a.b]]\nname = "x"\n'
  const edited = edit(text, () => ({ a: { z: 1, b: [{ name: 'x' }, { name: 'y' }] } }))
  assert.equal(edited, '# note\n\na = { z = 1, b = [{ name = "x" }, { name = "y" }] }\n')
})

test('editToml() puts the first key above the tables', () => {
  const text = '# about notes\n[[mcps]]\nname = "a"\n'
  assert.equal(
    edit(text, (table) => ({ ...table, id: 'x' })),
    `id = "x"\n\n${text}`,
  )
})

test('editToml() starts an empty text, and one with only a comment', () => {
  assert.equal(
    edit('', () => ({ id: 'x' })),
    'id = "x"\n',
  )
  assert.equal(
    edit('# note', () => ({ id: 'x' })),
    '# note\nid = "x"\n',
  )
})

test('editToml() keeps Windows line ends', () => {
  assert.equal(
    edit('a = 1\r\n', (table) => ({ ...table, b: 2 })),
    'a = 1\r\nb = 2\r\n',
  )
})

test('editToml() leaves every byte in place when a key is added and removed', () => {
  fc.assert(
    fc.property(tomlTexts(), (text) => {
      const table = parse(text)
      const added = editToml(text, table, { ...table, 'added-key': 'v' })
      assert.ok(added.includes('added-key = "v"'))
      const removed = editToml(added, parse(added), table)
      assert.equal(removed.replace(/\s/g, ''), text.replace(/\s/g, ''))
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

test('editToml() returns a text with the intended values, for any change', () => {
  const changes = fc.array(fc.tuple(fc.nat(), fc.constantFrom('drop', 'set', 'add')), {
    minLength: 1,
    maxLength: 4,
  })
  fc.assert(
    fc.property(tomlTexts(), changes, (text, steps) => {
      const before = parse(text)
      const after: JsonObject = structuredClone(before)
      for (const [place, step] of steps) change(after, place, step)
      const edited = parse(editToml(text, before, after))
      assert.deepEqual(structuredClone(edited), after)
    }),
    { numRuns: propertyRuns(500) },
  )
})

test('renderToml() writes any table so that the parser reads it back', () => {
  const key = fc
    .oneof(fc.constantFrom('a', 'b-c', 'd.e', '', 'é "x"'), fc.string({ unit: 'binary' }))
    .filter(isKey)
  const { table } = fc.letrec<{ table: JsonObject; value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.string({ unit: 'binary' }).map((text) => text.toWellFormed()),
      fc.integer(),
      fc.double().map((x) => (Object.is(x, -0) ? 0 : x)),
      fc.boolean(),
      fc.array(tie('value')),
      tie('table'),
    ),
    table: fc.dictionary(key, tie('value'), { maxKeys: 4 }),
  }))
  fc.assert(
    fc.property(table, (value) => {
      const read = structuredClone(parse(renderToml(value)))
      assert.deepEqual(read, structuredClone(value))
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

test('renderToml() passes unrepresentable values through', () => {
  const table = {
    big: 2 ** 53,
    bigger: 1e20,
    huge: 1e300,
    none: Number.NaN,
    all: -Number.POSITIVE_INFINITY,
    delete: '\x7f',
  }
  assert.deepEqual(structuredClone(parse(renderToml(table))), table)
  assert.deepEqual(structuredClone(parse(renderToml({ half: 'a\ud800', gone: null }))), { half: 'a\ufffd' })
})

function isKey(text: string): boolean {
  return text.isWellFormed() && text !== '__proto__'
}

/** Changes the table, or a nested one, in place. */
function change(table: JsonObject, place: number, step: 'drop' | 'set' | 'add'): void {
  const keys = Object.keys(table)
  const key = keys[place % Math.max(1, keys.length)]
  const inner = key === undefined ? undefined : table[key]
  if (Array.isArray(inner) && inner.length > 0 && typeof inner[0] === 'object') {
    if (step === 'drop') inner.splice(place % inner.length, 1)
    else inner.push(step === 'add' ? { name: `n${place}` } : structuredClone(inner[0]))
  } else if (
    typeof inner === 'object' &&
    inner !== null &&
    !(inner instanceof Date) &&
    !Array.isArray(inner)
  ) {
    change(inner as JsonObject, Math.floor(place / keys.length), step)
  } else if (step === 'add' || key === undefined) table[`new ${place}`] = [place, { x: 'y' }]
  else if (step === 'drop') delete table[key]
  else table[key] = `set ${place}`
}
