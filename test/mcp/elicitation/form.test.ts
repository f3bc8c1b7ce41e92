import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CrabError } from '../../../src/core/base/errors.ts'
import type { Question } from '../../../src/core/runtime/asks.ts'
import { elicitThrough, readElicitedUrl } from '../../../src/mcp/elicitation/elicit.ts'
import { readForm, takeAnswers } from '../../../src/mcp/elicitation/form.ts'
import { NEVER } from '../mcp-node.ts'

const readField = (schema: object, name = 'x') =>
  readForm({ type: 'object', properties: { [name]: schema }, required: [name] })?.[0]

const GOOD: [what: string, schema: object, answer: string, value: unknown][] = [
  ['a text', { type: 'string' }, 'any', 'any'],
  ['an e-mail address', { type: 'string', format: 'email' }, 'a@b.c', 'a@b.c'],
  ['an address', { type: 'string', format: 'uri' }, 'https://x.y/z', 'https://x.y/z'],
  ['a date', { type: 'string', format: 'date' }, '2024-02-29', '2024-02-29'],
  [
    'a date and time',
    { type: 'string', format: 'date-time' },
    '2024-02-29T10:00:00+01:00',
    '2024-02-29T10:00:00+01:00',
  ],
  ['a number', { type: 'number', minimum: 0 }, ' 2.5', 2.5],
  ['a whole number', { type: 'integer', minimum: 1, maximum: 9 }, '9', 9],
  ['yes', { type: 'boolean' }, 'Yes', true],
  ['no', { type: 'boolean' }, 'no', false],
  ['one of a list', { type: 'string', enum: ['a', 'b'] }, 'B', 'b'],
  ['one of a list with names', { type: 'string', enum: ['a', 'b'], enumNames: ['Ada', 'Bob'] }, 'Bob', 'b'],
  ['one of titled constants', { type: 'string', oneOf: [{ const: 'a', title: 'Ada' }] }, 'ada', 'a'],
  [
    'several of a list',
    { type: 'array', items: { type: 'string', enum: ['a', 'b', 'c'] } },
    'c, a',
    ['c', 'a'],
  ],
  [
    'several titled constants, one of which has a comma',
    {
      type: 'array',
      items: {
        anyOf: [
          { const: '1', title: 'x, y' },
          { const: '2', title: 'x' },
        ],
      },
    },
    'x, y, x',
    ['1', '2'],
  ],
]
for (const [what, schema, answer, value] of GOOD) {
  test(`a field of a form accepts ${what}`, () =>
    assert.deepEqual(readField(schema)?.read(answer), { value }))
}

const BAD: [schema: object, answer: string, problem: RegExp][] = [
  [{ type: 'string', minLength: 3 }, 'ab', /at least 3 characters/],
  [{ type: 'string', maxLength: 1 }, 'ab', /at most 1 characters/],
  [{ type: 'string', format: 'email' }, 'ab', /e-mail/],
  [{ type: 'string', format: 'uri' }, 'no address', /address/],
  [{ type: 'string', format: 'date' }, '2023-02-29', /date/],
  [{ type: 'string', format: 'date-time' }, '2023-02-28', /date and time/],
  [{ type: 'integer' }, '1.5', /whole number/],
  [{ type: 'number', minimum: 2 }, '1', /from 2/],
  [{ type: 'number', maximum: 2 }, '0x1', /a number up to 2/],
  [{ type: 'boolean' }, 'maybe', /Yes or No/],
  [{ type: 'string', enum: ['a'] }, 'b', /listed/],
  [{ type: 'array', items: { enum: ['a', 'b'] }, maxItems: 1 }, 'a, b', /0 to 1 of them/],
  [{ type: 'array', items: { enum: ['a', 'b'] } }, 'a, z', /listed/],
]
for (const [schema, answer, problem] of BAD) {
  test(`a field of ${JSON.stringify(schema)} rejects "${answer}"`, () => {
    const reading = readField(schema)!.read(answer)
    assert.match('problem' in reading ? reading.problem : 'taken', problem)
  })
}

test('readForm() omits fields that it cannot ask for, unless they are required', () => {
  const properties = { a: { type: 'string' }, b: { type: 'object' }, c: 7 }
  assert.deepEqual(
    readForm({ properties })?.map(({ name }) => name),
    ['a'],
  )
  for (const schema of [
    { properties, required: ['b'] },
    { properties, required: ['z'] },
    { properties: [] },
    { properties: Object.fromEntries(Array.from({ length: 31 }, (_, i) => [i, { type: 'string' }])) },
  ])
    assert.equal(readForm(schema), undefined)
})

test('a field shows no control sequences, and distinct labels', () => {
  const field = readField({
    type: 'string',
    title: '\u001b[31mred\nsecond',
    description: 'a\u0007b',
    enum: ['x', 'y'],
    enumNames: ['Z', 'z'],
  })
  assert.equal(field?.title, 'red second')
  assert.doesNotMatch(JSON.stringify(field), /\\u00/)
  assert.deepEqual(
    field?.options.map(({ label }) => label),
    ['Z', 'z (y)'],
  )
})

test('takeAnswers() fills unanswered fields with defaults, and reports missing ones', () => {
  const fields = readForm({
    properties: {
      a: { type: 'string', default: 'A' },
      b: { type: 'integer', default: 'no number' },
      c: { type: 'boolean', default: false },
      d: { type: 'array', items: { enum: ['x', 'y'] }, default: ['y'] },
      e: { type: 'string' },
    },
    required: ['b', 'c'],
  })!
  const { content, problems } = takeAnswers(fields, [])
  assert.deepEqual(content, { a: 'A', c: false, d: ['y'] })
  assert.deepEqual(
    [...problems.keys()].map(({ name }) => name),
    ['b'],
  )
})

/** Answers each ask with the next of these: by question, or all with one text. */
function answerAs(...turns: ((question: Question) => string)[]) {
  const put: Question[][] = []
  const elicit = elicitThrough({
    server: 'docs',
    turn: 'run',
    async ask(questions) {
      put.push([...questions])
      const answer = turns[put.length - 1]
      if (!answer) throw new CrabError('denied', 'nobody')
      return Object.fromEntries(questions.map((question) => [question.question, answer(question)]))
    },
  })
  return { put, answer: (params: object) => elicit.answer({ ...params }, NEVER) }
}

const FORM = {
  message: 'Who are you?',
  requestedSchema: {
    type: 'object',
    properties: { name: { type: 'string', title: 'Name' }, age: { type: 'integer', title: 'Age' } },
    required: ['name', 'age'],
  },
}

test('a form asks for consent first, and repeats the question after an invalid answer', async () => {
  const answers: Record<string, string> = { Name: 'Ada', Age: 'old' }
  const { put, answer } = answerAs(
    () => 'Answer',
    ({ header }) => answers[header]!,
    () => '36',
  )
  assert.deepEqual(await answer(FORM), { action: 'accept', content: { name: 'Ada', age: 36 } })
  assert.match(put[0]![0]!.question, /^The MCP server "docs" asks: Who are you\?\nIt asks for: Name, Age$/)
  assert.deepEqual(
    put.map((questions) => questions.map(({ header }) => header)),
    [[''], ['Name', 'Age'], ['Age']],
  )
  assert.match(put[2]![0]!.question, /Invalid: it takes a whole number/)
})

test('a form is cancelled when the user leaves it, and declined when the user refuses or cannot be asked', async () => {
  assert.deepEqual(await answerAs(() => 'Decline').answer(FORM), { action: 'decline' })
  assert.deepEqual(await answerAs(() => '').answer(FORM), { action: 'cancel' })
  assert.deepEqual(
    await answerAs(
      () => 'Answer',
      () => '',
    ).answer(FORM),
    { action: 'cancel' },
  )
  assert.deepEqual(await answerAs().answer(FORM), { action: 'decline' })
  const impossible = answerAs()
  assert.deepEqual(await impossible.answer({ message: '', requestedSchema: { properties: 1 } }), {
    action: 'decline',
  })
  assert.equal(impossible.put.length, 0)
})

test('a single choice is one question, and can be declined', async () => {
  const requestedSchema = {
    type: 'object',
    properties: { go: { type: 'boolean', title: 'Delete it?' } },
    required: ['go'],
  }
  const prompter = answerAs(() => 'Yes')
  assert.deepEqual(await prompter.answer({ message: 'Careful', requestedSchema }), {
    action: 'accept',
    content: { go: true },
  })
  assert.deepEqual(
    prompter.put[0]![0]!.options.map(({ label }) => label),
    ['Yes', 'No', 'Decline'],
  )
  assert.deepEqual(await answerAs(() => 'Decline').answer({ requestedSchema }), { action: 'decline' })
  assert.deepEqual(await answerAs(() => '').answer({ requestedSchema }), { action: 'cancel' })
})

test('a form can be sent with its defaults', async () => {
  const requestedSchema = { properties: { a: { type: 'string', default: 'A' }, b: { type: 'string' } } }
  const prompter = answerAs(() => 'Send the presets')
  assert.deepEqual(await prompter.answer({ message: 'm', requestedSchema }), {
    action: 'accept',
    content: { a: 'A' },
  })
})

test('a URL is shown with its host and never opened here', async () => {
  const prompter = answerAs(() => 'Done')
  const params = {
    mode: 'url',
    message: 'Log in',
    url: 'https://bücher.example/login?x=1',
    elicitationId: '1',
  }
  assert.deepEqual(await prompter.answer(params), { action: 'accept' })
  const [[question]] = prompter.put as [[Question]]
  assert.equal(question.header, 'xn--bcher-kva.example')
  assert.match(
    question.question,
    /page of xn--bcher-kva\.example\nhttps:\/\/xn--bcher-kva\.example\/login\?x=1\nLog in$/,
  )
  assert.deepEqual(await answerAs(() => 'Decline').answer(params), { action: 'decline' })
})

for (const url of [
  'javascript:alert(1)',
  'https://google.com@evil.example/',
  'file:///etc/passwd',
  7,
  `https://x.y/${'a'.repeat(2_000)}`,
  'https://x.y/\u001b[2J',
]) {
  test(`the URL ${String(url).slice(0, 40)} is declined without being shown`, async () => {
    assert.equal(readElicitedUrl(url), undefined)
    const prompter = answerAs()
    assert.deepEqual(await prompter.answer({ mode: 'url', message: 'm', url }), { action: 'decline' })
    assert.equal(prompter.put.length, 0)
  })
}
