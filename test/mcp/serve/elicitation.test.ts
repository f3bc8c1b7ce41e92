import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PERMISSION_ANSWERS } from '../../../src/core/base/permission-answers.ts'
import { AskKind, AskUserEvent } from '../../../src/core/protocol/crabtalk.generated.ts'
import { toAskAnswers, toForm } from '../../../src/mcp/serve/elicitation.ts'

const { once, session, always, no } = PERMISSION_ANSWERS
const PERMISSION = AskUserEvent.create({
  askId: 'a',
  kind: AskKind.PERMISSION,
  questions: [
    {
      question: 'Allow bash: ls?',
      header: 'Permission',
      options: [once, session, always, no].map((label) => ({ label, description: 'd' })),
    },
  ],
  permission: { action: 'bash: \u001b[31mls', cwd: '/w', reason: 'no rule allows it', rules: ['bash(ls)'] },
})
const QUESTION = AskUserEvent.create({
  askId: 'b',
  kind: AskKind.QUESTION,
  questions: [
    { question: 'Which?', header: '', options: [{ label: 'Red', description: 'warm' }] },
    { question: 'Which ones?', header: 'Many', multiSelect: true, options: [{ label: 'A' }, { label: 'B' }] },
    { question: 'Name?', header: 'Name' },
  ],
})

test('toForm() offers a permission for this conversation at most', () => {
  const { message, requestedSchema } = toForm('crab', PERMISSION)
  assert.deepEqual(requestedSchema.properties['answer_1']!.enum, [once, session, no])
  assert.deepEqual(requestedSchema.required, ['answer_1'])
  assert.equal(
    message,
    'crab asks for permission: bash: ls\nIn /w, because no rule allows it.\n"Allow in this conversation" allows bash(ls).',
  )
})

test('toForm() has a field for each question, free text where no single choice is asked', () => {
  const { message, requestedSchema } = toForm('crab', QUESTION)
  const fields = Object.values(requestedSchema.properties)
  assert.deepEqual(
    fields.map(({ title, enum: labels }) => [title, labels]),
    [
      ['Answer', ['Red']],
      ['Many', undefined],
      ['Name', undefined],
    ],
  )
  assert.match(fields[1]!.description, /one or more of A, B, joined by ", "/)
  assert.match(message, /^crab asks: Which\?\n- Red: warm\n/)
})

test('toAskAnswers() accepts what the user chose, limited to what was offered', () => {
  const answer = (label: string) => ({ action: 'accept', content: { answer_1: label } })
  const readAnswer = (response: unknown) => toAskAnswers(PERMISSION, response)['Allow bash: ls?']
  assert.equal(readAnswer(answer(session)), session)
  assert.equal(readAnswer(answer(always)), once)
  assert.equal(readAnswer(answer('not like this')), 'not like this')
})

test('toAskAnswers() treats an invalid answer as a no', () => {
  const strange = [undefined, null, 7, {}, { action: 'decline' }, { action: 'cancel' }]
  const filled = ['decline', 'cancel', 'x'].map((action) => ({ action, content: { answer_1: once } }))
  for (const response of [...strange, ...filled]) {
    assert.deepEqual(toAskAnswers(PERMISSION, response), { 'Allow bash: ls?': no })
  }
  for (const content of [{ answer_1: true }, [], undefined]) {
    assert.deepEqual(toAskAnswers(PERMISSION, { action: 'accept', content }), {
      'Allow bash: ls?': 'the host accepted the form without an answer',
    })
  }
  const answers = toAskAnswers(QUESTION, { action: 'accept', content: { answer_1: 'Red', answer_3: 'Bo' } })
  assert.deepEqual(answers, { 'Which?': 'Red', 'Which ones?': '', 'Name?': 'Bo' })
})

test("toAskAnswers() declines a server's question when the user declines, and cancels it when the user leaves", () => {
  const options = ['Answer', 'Decline'].map((label) => ({ label, description: '' }))
  const questions = [{ question: 'A server asks: name?', header: '', options, multiSelect: false }]
  const ask = AskUserEvent.create({ askId: 'c', kind: AskKind.ELICITATION, questions })
  assert.deepEqual(toAskAnswers(ask, { action: 'decline' }), { 'A server asks: name?': 'Decline' })
  assert.deepEqual(toAskAnswers(ask, { action: 'cancel' }), { 'A server asks: name?': '' })
})
