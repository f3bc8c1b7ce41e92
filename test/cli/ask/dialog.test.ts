import assert from 'node:assert/strict'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { type Dialog, type DialogAnswers, type DialogReply, runDialog } from '../../../src/cli/ask/dialog.ts'
import { PERMISSION_ANSWERS } from '../../../src/core/base/permission-answers.ts'
import { AskKind, AskUserEvent } from '../../../src/core/protocol/crabtalk.generated.ts'
import { makeTestTerminal, type TestTerminal } from '../../support/test-terminal.ts'

const { once, session, always, no } = PERMISSION_ANSWERS
const PERMISSION = AskUserEvent.fromPartial({
  askId: 'p',
  kind: AskKind.PERMISSION,
  questions: [{ question: 'Allow?', options: [once, session, no].map((label) => ({ label })) }],
  permission: {
    tool: 'bash',
    action: `bash: ${'echo\n'.repeat(50)}ls`,
    cwd: '/work',
    reason: 'no rule allows it',
  },
})
const QUESTIONS = AskUserEvent.fromPartial({
  askId: 'q',
  kind: AskKind.QUESTION,
  questions: [
    { question: 'Which?', header: 'Database', options: [{ label: 'SQLite' }, { label: 'Postgres' }] },
    { question: 'Why?' },
    { question: 'What else?' },
  ],
})

test('runDialog() shows the question and reads the answer', async () => {
  await using talk = await start(PERMISSION)
  await talk.terminal.shows(/^crabtalk: crab wants to run\n.*\n {2}1 {5}Yes\n {2}2 .*\n {2}4 {5}No\n.*> $/s)
  for (const line of ['?', '2']) talk.terminal.type(line)
  assert.deepEqual(await talk.answers, { 'Allow?': session })
})

test('runDialog() asks again after an unknown answer', async () => {
  await using talk = await start(PERMISSION)
  for (const line of ['', 'perhaps', '3', '?']) talk.terminal.type(line)
  talk.terminal.type('1')
  assert.deepEqual(await talk.answers, { 'Allow?': once })
  assert.equal(talk.terminal.screen().match(/details \n> /g)?.length, 5)
  const notices = talk.terminal.screen().match(/not understood: .*/g)
  assert.deepEqual(notices, ['not understood: perhaps', 'not understood: 3'])
})

test('runDialog() repeats an unknown answer truncated and without control characters', async () => {
  await using talk = await start(PERMISSION)
  for (const line of ['\u001b[2J', 'z'.repeat(200), '4']) talk.terminal.type(line)
  await talk.answers
  const notices = talk.terminal.screen().match(/not understood: .*/g)
  assert.deepEqual(notices, [String.raw`not understood: \x1b[2J`, `not understood: ${'z'.repeat(60)}…`])
})

test('runDialog() says what "always" writes, and where', async () => {
  const options = [once, always, no].map((label) => ({ label, description: '' }))
  const questions = PERMISSION.questions.map((question) => ({ ...question, options }))
  const permission = { ...PERMISSION.permission!, rules: ['bash(npm test)', 'bash(l\u001bs)'] }
  await using talk = await start({ ...PERMISSION, questions, permission })
  for (const line of ['?', '3']) talk.terminal.type(line)
  assert.deepEqual(await talk.answers, { 'Allow?': always })
  await talk.terminal.shows(
    /> crabtalk: adding to agents\/crab\.toml: allow bash\(npm test\)\n.*: allow bash\(l\\x1bs\)\n$/,
  )
})

test('runDialog() allows nothing that was shown only in part', async () => {
  await using talk = await start(PERMISSION)
  talk.terminal.type('1')
  await talk.terminal.shows(/> .*\n {2}│ ls\n.*this is the whole request; nothing is allowed yet\n.*> $/s)
  talk.terminal.type('1')
  assert.deepEqual(await talk.answers, { 'Allow?': once })
})

test('runDialog() shows what rules would also permit, and allows nothing before all of it was shown', async () => {
  for (const hasComposer of [true, false]) {
    const warnings = [`bash(sh *) permits any command; ${'name the script, '.repeat(40)}the end`]
    const permission = { ...PERMISSION.permission!, action: 'bash: ls', warnings }
    await using talk = await start({ ...PERMISSION, permission }, { hasComposer })
    await talk.terminal.shows(/^ {2}risk {2}bash\(sh \*\) permits any command; name[\s\S]*…\n[\s\S]*> $/m)
    assert.doesNotMatch(talk.terminal.screen(), /the end/)
    talk.terminal.type('1')
    await talk.terminal.shows(/the end\n[\s\S]*nothing is allowed yet\n[\s\S]*> $/)
    talk.terminal.type('1')
    assert.deepEqual(await talk.answers, { 'Allow?': once })
  }
})

test('runDialog() discards text that was typed before a question was shown', async () => {
  const seen = Promise.withResolvers<string>()
  await using talk = await start(PERMISSION, { see: () => seen.promise })
  await talk.terminal.shows(/details $/)
  seen.resolve('')
  await talk.terminal.shows(/details \n> $/)
  talk.terminal.type('4')
  assert.deepEqual(await talk.answers, { 'Allow?': no })
})

test('runDialog() says that a line that came too early answered nothing', async () => {
  const seen = Promise.withResolvers<string>()
  await using talk = await start(PERMISSION, { see: () => seen.promise })
  await talk.terminal.shows(/details $/)
  seen.resolve('no\n\u001b1\n')
  await talk.terminal.shows(
    /details crabtalk: Enter came too soon to be an answer: \\x1b1\n> $/, // the user pressed Enter, which ended the line
  )
  talk.terminal.type('4')
  assert.deepEqual(await talk.answers, { 'Allow?': no })
})

test('runDialog() accepts only an option as the answer to a question of crabtalk itself', async () => {
  const questions = [{ ...QUESTIONS.questions[0]!, question: 'Use them?' }]
  for (const hasComposer of [true, false]) {
    await using talk = await start({ ...QUESTIONS, kind: AskKind.TRUST, questions }, { hasComposer })
    await talk.terminal.shows(/^crabtalk: crabtalk asks \(Database\)\n/)
    assert.doesNotMatch(talk.terminal.screen(), /own words/)
    for (const line of ['3', 'yes but carefully', '4']) talk.terminal.type(line)
    assert.deepEqual(await talk.answers, { 'Use them?': 'Postgres' })
    await talk.terminal.shows(/not understood: 3\n[\s\S]*not understood: yes but carefully\n/)
  }
})

test('runDialog() next to a composer accepts free text only where it was chosen', async () => {
  await using talk = await start(QUESTIONS, { hasComposer: true })
  await talk.terminal.shows(/^ {2}3 {5}your own words$/m)
  for (const line of ['MySQL', '3', 'MySQL', '1', 'because', undefined]) talk.terminal.type(line)
  assert.deepEqual(await talk.answers, { 'Which?': 'MySQL', 'Why?': 'because', 'What else?': '' })
})

test('runDialog() shows all of the question, and the effects of the choices, on request', async () => {
  await using talk = await start(PERMISSION)
  await talk.terminal.shows(/11 more lines; \? shows all.*> $/s)
  talk.terminal.type('?')
  await talk.terminal.shows(/> .*\n {2}│ ls\n {2}in.*\n {2}4 {2}denies this call.*> $/s)
  talk.terminal.type('4')
  assert.deepEqual(await talk.answers, { 'Allow?': no })
})

test('runDialog() asks for the reason of a refusal', async () => {
  await using talk = await start(PERMISSION)
  talk.terminal.type('5')
  await talk.terminal.shows(/Tell the agent why: $/)
  talk.terminal.type('use pnpm')
  assert.deepEqual(await talk.answers, { 'Allow?': 'use pnpm' })
  await using silent = await start(PERMISSION)
  silent.terminal.type('5')
  silent.terminal.type(undefined)
  assert.deepEqual(await silent.answers, { 'Allow?': no })
})

test('runDialog() treats the end of input as a refusal, and ends the line', async () => {
  await using talk = await start(PERMISSION)
  talk.terminal.type(undefined)
  assert.deepEqual(await talk.answers, { 'Allow?': no })
  await talk.terminal.shows(/> \n$/)
})

test('runDialog() asks questions one after the other', async () => {
  await using talk = await start(QUESTIONS)
  await talk.terminal.shows(/^crabtalk: crab asks \(Database\)\n {2}│ Which\?\n/)
  assert.doesNotMatch(talk.terminal.screen(), /Why/)
  for (const line of ['7', '2', 'because', 'nothing']) talk.terminal.type(line)
  assert.deepEqual(await talk.answers, { 'Which?': 'Postgres', 'Why?': 'because', 'What else?': 'nothing' })
  await talk.terminal.shows(/> crabtalk: not understood: 7\n/)
})

test('runDialog() leaves the rest unanswered at the end of input', async () => {
  await using talk = await start(QUESTIONS)
  for (const line of ['1', undefined]) talk.terminal.type(line)
  assert.deepEqual(await talk.answers, { 'Which?': 'SQLite', 'Why?': '', 'What else?': '' })
})

test('runDialog() accepts free text for an agent, and only options for a server', async () => {
  await using agent = await start(QUESTIONS)
  for (const line of ['MySQL', undefined]) agent.terminal.type(line)
  assert.equal((await agent.answers)['Which?'], 'MySQL')
  await using server = await start({ ...QUESTIONS, kind: AskKind.ELICITATION })
  await server.terminal.shows(/^crabtalk: an MCP server of crab asks/)
  for (const line of ['MySQL', '1', undefined]) server.terminal.type(line)
  assert.equal((await server.answers)['Which?'], 'SQLite')
})

test('runDialog() ends when its signal is aborted', async () => {
  await using talk = await start(QUESTIONS)
  await talk.terminal.shows(/> $/)
  talk.stop.abort(new Error('over'))
  await assert.rejects(talk.answers, /over/)
})

const SMALL = AskUserEvent.fromPartial({
  ...PERMISSION,
  permission: {
    tool: 'bash',
    action: 'bash: npm test',
    arguments: '{"command":"npm test","timeout_seconds":9}',
    editable: true,
  },
})

test('runDialog() runs a call that the user has edited', async () => {
  await using talk = await start(SMALL)
  await talk.terminal.shows(/A number and Enter answer · e edits the command · \? details \n> $/)
  talk.terminal.type('e')
  await talk.terminal.shows(/The command to run instead \(an empty line changes nothing\): $/)
  talk.terminal.type('npm test --\u001bsilent')
  await talk.terminal.shows(
    /the call as you changed it\n.*npm test --\\x1bsilent\n {2}1 {5}Yes, run it so\n {2}4 {5}No.*\n.*\n> $/,
  )
  for (const line of ['npm', '1']) talk.terminal.type(line)
  assert.deepEqual(await talk.reply, {
    answers: { 'Allow?': once },
    arguments: JSON.stringify({ command: 'npm test --\u001bsilent', timeout_seconds: 9 }),
  })
  await talk.terminal.shows(/not understood: npm\n/)
})

test('runDialog() leaves the call as it was after an empty line, the same text, and No', async () => {
  for (const lines of [[''], ['npm test'], ['rm -rf /', '4']]) {
    await using talk = await start(SMALL)
    for (const line of ['e', ...lines, '1']) talk.terminal.type(line)
    assert.deepEqual(await talk.reply, { answers: { 'Allow?': once } })
    await talk.terminal.shows(/the call is as it was\nA?/)
  }
})

test('runDialog() edits arguments as a JSON object, and no text of several lines', async () => {
  const permission = { ...SMALL.permission!, server: 'files', tool: 'get', arguments: '{"path":"a"}' }
  await using talk = await start({ ...SMALL, permission })
  for (const line of ['e', '{"path"', 'e', '{"path":"b"}', '1']) talk.terminal.type(line)
  assert.deepEqual(await talk.reply, { answers: { 'Allow?': once }, arguments: '{"path":"b"}' })
  await talk.terminal.shows(/this is not a JSON object\n/)
  const text = JSON.stringify({ path: 'a', content: 'one\ntwo\n' })
  await using other = await start({
    ...SMALL,
    permission: { ...permission, server: '', tool: 'write', arguments: text },
  })
  for (const line of ['e', '4']) other.terminal.type(line)
  assert.deepEqual(await other.reply, { answers: { 'Allow?': no } })
  await other.terminal.shows(/Enter answer · \? details[\s\S]*not understood: e\n/)
})

test('runDialog() edits nothing that was shown only in part', async () => {
  await using talk = await start({
    ...PERMISSION,
    permission: { ...PERMISSION.permission!, editable: true, arguments: '{"command":"ls"}' },
  })
  for (const line of ['e', 'e', 'ls -l', '1']) talk.terminal.type(line)
  assert.deepEqual(await talk.reply, { answers: { 'Allow?': once }, arguments: '{"command":"ls -l"}' })
  await talk.terminal.shows(/nothing is allowed yet\n[\s\S]*> The command to run instead/)
})

interface Talk extends AsyncDisposable {
  terminal: TestTerminal
  stop: AbortController
  reply: Promise<DialogReply>
  answers: Promise<DialogAnswers>
}

async function start(ask: AskUserEvent, more: Pick<Dialog, 'see' | 'hasComposer'> = {}): Promise<Talk> {
  const folder = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const terminal = makeTestTerminal(folder.path)
  const stop = new AbortController()
  const dialog = { terminal: terminal.open(), style: { columns: 80, color: false }, agent: 'crab', ...more }
  const reply = runDialog(ask, dialog, stop.signal)
  return {
    terminal,
    stop,
    reply,
    answers: reply.then(({ answers }) => answers),
    async [Symbol.asyncDispose]() {
      terminal[Symbol.dispose]()
      await folder.remove()
    },
  }
}
