import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { openChat, type Session } from '../support/chat-session.ts'
import { assertOnlyOwnSequences } from '../support/chat-session-bytes.ts'
import { readAndChoose, TAKES_DIGITS } from '../support/choose-digit.ts'
import { makeTalk } from '../support/talk.ts'
import { HOSTILE_TEXTS } from '../tui/view/hostile-texts.ts'

const TEXTS = Object.entries(HOSTILE_TEXTS)

test('escape sequences in answers, thinking and titles do not reach the terminal', async () => {
  const parts = TEXTS.flatMap(([name, text]) => [`\n\n${name}: ${text.slice(0, 9)}`, text.slice(9)])
  const script = [
    { parts: [{ thinking: TEXTS.map(([, text]) => text).join('\n') }, ...parts, '\n\nAll said.'] },
  ]
  await using talk = await makeTalk(script)
  await using chat = openChat(talk, ['chat', 'say it'], { rows: 40 })
  await chat.shows('All said.')
  await chat.shows((screen) => TEXTS.every(([name]) => screen.text().join('\n').includes(name)))
  const text = chat.screen.text().join('\n')
  for (const [name] of TEXTS) assert.ok(text.includes(name), `${name} is missing`)
  chat.type('/title a\u009b2Jb')
  chat.press('enter')
  await leave(chat)
  assertOnlyOwnSequences(chat.bytes())
})

test('escape sequences in tool arguments, tool output, file names and diffs do not reach the terminal', async () => {
  const files = TEXTS.slice(0, 12).map(
    ([, text], at) => [`f${at}${text.slice(0, 60).replaceAll(/[/\0]/g, '')}`, text] as const,
  )
  const calls = files.map(([path], at) => ({ call: `c${at}`, name: 'read', args: JSON.stringify({ path }) }))
  const all = TEXTS.map(([, text]) => text.toWellFormed()).join('\n')
  const write = { call: 'w', name: 'write', args: JSON.stringify({ path: `new${ESC}[2J.txt`, content: all }) }
  await using talk = await makeTalk([{ parts: calls }, { parts: [write] }, { parts: ['Done with it.'] }])
  await mkdir(talk.cwd, { recursive: true })
  for (const [path, text] of files) await writeFile(join(talk.cwd, path), text)
  await using chat = openChat(talk, ['chat', 'read them'], { rows: 120 })
  await chat.shows(TAKES_DIGITS)
  chat.type('?')
  await chat.shows(/\? less/)
  chat.press('esc')
  await chat.shows(/\? details/)
  await readAndChoose(chat, '1', 'Done with it.')
  await chat.shows('Done with it.')
  await isIdle(chat)
  chat.press('ctrl+o')
  await chat.shows(/q back/)
  chat.press('home', 'page-down', 'page-down', 'end')
  chat.type('q')
  await isIdle(chat)
  chat.type('@')
  await chat.shows(/f1before/)
  chat.press('backspace')
  await leave(chat)
  const [before = '', pager = '', after = ''] = chat.bytes().split(new RegExp(`${ESC}\\[\\?1049[hl]`))
  assertOnlyOwnSequences(before)
  assertOnlyOwnSequences(pager.replaceAll(new RegExp(`${ESC}\\[\\d+;1H`, 'g'), ''))
  assertOnlyOwnSequences(after)
})

test('escape sequences in questions, options and model errors do not reach the terminal', async () => {
  const questions = TEXTS.slice(0, 4).map(([name, text]) => ({
    question: `${name}? ${text}`,
    header: text.slice(0, 30),
    options: TEXTS.slice(0, 3).map((entry, at) => ({ label: `${at}${entry[1]}`, description: entry[1] })),
  }))
  const message = TEXTS.map(([, text]) => text)
    .join(' ')
    .slice(0, 4_000)
  const script = [
    { parts: [{ call: 'q', name: 'ask_user', args: JSON.stringify({ questions }) }] },
    { status: 400, body: { error: { message } } },
  ]
  await using talk = await makeTalk(script)
  await using chat = openChat(talk, ['chat', 'ask me'], { rows: 40 })
  await chat.shows(/a colour\?/)
  await chat.shows(TAKES_DIGITS)
  chat.press('esc')
  await chat.shows(/Cannot call scripted/)
  await leave(chat)
  assertOnlyOwnSequences(chat.bytes())
})

test('escape sequences in names, descriptions, answers, errors and logs of MCP servers do not reach the terminal', async () => {
  const calls = ['say', 'fail'].map((name) => ({ call: name, name: `mcp__evil__${name}`, args: '{}' }))
  await using talk = await makeTalk([{ parts: calls }, { parts: ['Heard it.'] }])
  const server = join(talk.cwd, 'server.mjs')
  await writeFile(server, SERVER)
  await mkdir(join(talk.home, 'agents'))
  const tables = [`name = "evil"\ncommand = ${quote(process.execPath)}\nargs = [${quote(server)}]\n`, BROKEN]
  await writeFile(join(talk.home, 'agents/crab.toml'), tables.map((table) => `[[mcps]]\n${table}`).join('\n'))
  await using chat = openChat(talk, ['chat', '--yolo', 'call them'], { rows: 40 })
  await chat.shows('Heard it.')
  await isIdle(chat)
  await run(chat, '/details', 'details on')
  await run(chat, '/tools', 'Tools of crab')
  chat.press('esc')
  await run(chat, '/mcp', 'Esc closes')
  for (const key of ['t', 'l']) {
    chat.type(key)
    await chat.shows('Esc goes back')
    chat.press('esc')
    await chat.shows('Esc closes')
  }
  chat.press('esc')
  await leave(chat)
  assertOnlyOwnSequences(chat.bytes())
})

const ESC = '\u001b'

/** An MCP server that puts escape sequences into all of its messages and into standard error. */
const SERVER = `
const evil = ${JSON.stringify(
  Object.values(HOSTILE_TEXTS)
    .map((text) => text.slice(0, 200).toWellFormed())
    .join(' '),
)}
const answer = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n')
const tool = (name) => ({ name, title: evil, description: evil, inputSchema: { type: 'object' } })
process.stderr.write(evil + '\\n')
let buffered = ''
process.stdin.on('data', (piece) => {
  const lines = (buffered + piece).split('\\n')
  buffered = lines.pop()
  for (const line of lines) {
    const { id, method, params } = JSON.parse(line)
    if (method === 'initialize') {
      const serverInfo = { name: evil, version: evil }
      answer(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo, instructions: evil })
    } else if (method === 'tools/list') answer(id, { tools: [tool('say'), tool('fail')] })
    else if (method === 'tools/call') answer(id, { content: [{ type: 'text', text: evil }], isError: params.name === 'fail' })
    else if (id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: evil } }) + '\\n')
  }
})
`

const BROKEN = `name = "broken"
command = "/nonexistent/\\u001b[31mred\\u001b]0;title\\u0007"
`

/** Formats a TOML string. */
function quote(text: string): string {
  return JSON.stringify(text)
}

async function isIdle(chat: Session): Promise<void> {
  await chat.shows((screen) => screen.lines().some((line) => line.startsWith('> Ask anything')))
}

async function run(chat: Session, command: string, answer: string): Promise<void> {
  await isIdle(chat)
  chat.type(command)
  await chat.shows(`> ${command}`)
  chat.press('enter')
  await chat.shows(answer)
}

async function leave(chat: Session): Promise<void> {
  await isIdle(chat)
  chat.press('ctrl+d')
  await chat.finished
}
