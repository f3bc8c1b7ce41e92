import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ErrorKind } from '../../../src/core/base/errors.ts'
import { CrabError } from '../../../src/core/base/errors.ts'
import { askUserHook } from '../../../src/core/hooks/ask-user.ts'
import type { AskAnswers, Question } from '../../../src/core/runtime/asks.ts'
import type { ToolDispatch, ToolOutput } from '../../../src/core/runtime/hook.ts'

const NEVER = new AbortController().signal

test('askUserHook() offers one read-only tool with a short schema', async () => {
  const tools = await askUserHook().schema!({} as never, { emit: () => undefined, signal: NEVER })
  assert.deepEqual(
    tools.map(({ name, readOnly }) => [name, readOnly]),
    [['ask_user', true]],
  )
  assert.ok(JSON.stringify(tools[0]!.parameters).length <= 350)
})

test('askUserHook() leaves the calls of other tools to others', () => {
  assert.equal(askUserHook().dispatch!('bash', {} as ToolDispatch, NEVER), undefined)
})

test('ask_user asks the questions and answers with JSON', async () => {
  const questions = [
    { question: 'Which?', header: 'Pick', options: [{ label: 'A', description: 'first' }, { label: 'B' }] },
    { question: 'What else?', multi: true, options: ['C'] },
    { question: 'Why?', header: null, options: null, multi: null },
  ]
  const received: Question[] = []
  const answers = { 'Which?': 'A', 'What else?': '', 'Why?': 'because' }
  const output = await ask({ questions }, async (put) => {
    received.push(...put)
    return answers
  })
  assert.deepEqual(output, { output: JSON.stringify(answers), isError: false })
  assert.deepEqual(received, [
    {
      question: 'Which?',
      header: 'Pick',
      options: [
        { label: 'A', description: 'first' },
        { label: 'B', description: '' },
      ],
      multiSelect: false,
    },
    { question: 'What else?', header: '', options: [{ label: 'C', description: '' }], multiSelect: true },
    { question: 'Why?', header: '', options: [], multiSelect: false },
  ])
})

test('ask_user tells the model what to do without an answer', async () => {
  const questions = [{ question: 'Which?' }, { question: 'Why?' }]
  const declined = await ask({ questions }, async () => ({ 'Which?': '', 'Why?': '' }))
  assert.deepEqual([declined.isError, declined.output.includes('chose not to answer')], [true, true])
  const failures: [ErrorKind, RegExp][] = [
    ['denied', /^No one is there to answer\. .*do not ask again/],
    ['timeout', /did not answer in time/],
  ]
  for (const [kind, words] of failures) {
    const { output, isError } = await ask({ questions }, () => Promise.reject(new CrabError(kind, 'no')))
    assert.equal(isError, true)
    assert.match(output, words)
  }
  await assert.rejects(
    ask({ questions }, () => Promise.reject(new CrabError('cancelled', 'gone'))),
    { kind: 'cancelled' },
  )
})

for (const [args, said] of [
  [{}, /^Cannot ask: questions is missing or not of this shape: \{"questions":\[\{"question":"…"/],
  [{ questions: [] }, /questions is missing or not of this shape: /],
  [
    { questions: Array.from({ length: 5 }, (_, at) => ({ question: `${at}` })) },
    /questions is missing or not of this shape: /,
  ],
  [{ questions: [{ question: '' }] }, /questions\[0\]\.question is missing or/],
  [{ questions: [{ question: 'Which?', options: [{}] }] }, /questions\[0\]\.options\[0\]/],
  [{ questions: [{ question: 'Same?' }, { question: 'Same?' }] }, /two of the questions are the same/],
] as const) {
  test(`ask_user rejects ${JSON.stringify(args).slice(0, 70)} without asking`, async () => {
    await assert.rejects(
      ask(args, async () => assert.fail()),
      { kind: 'invalid', message: said },
    )
  })
}

async function ask(
  args: Record<string, unknown>,
  put: (questions: readonly Question[]) => Promise<AskAnswers>,
): Promise<ToolOutput> {
  return await askUserHook().dispatch!('ask_user', { args, ask: put } as unknown as ToolDispatch, NEVER)!
}
