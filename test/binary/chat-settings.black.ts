import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { openChat, openShell, type Session } from '../support/chat-session.ts'
import { makeTalk, shortConfig, type Talk } from '../support/talk.ts'
import { until } from '../support/until.ts'

const ESC = '\u001b'
const ST = `${ESC}\\`
const FOCUS_IN = `${ESC}[I`
const FOCUS_OUT = `${ESC}[O`
const IDLE = /^> Ask anything/

/** Returns a config.toml of the scripted server with a `[tui]` table. */
const withSettings = (settings: string) => (url: string) => `${shortConfig(url)}\n[tui]\n${settings}\n`

async function leave(chat: Session): Promise<void> {
  chat.press('ctrl+d')
  await chat.finished
}

function bells(chat: Session): number {
  return chat.bytes().split('\u0007').length - 1
}

test('the title of the window follows the conversation, and everything is restored on exit', async () => {
  await using talk = await makeTalk([{ parts: ['An answer.'] }])
  await using chat = openChat(talk)
  await chat.shows(IDLE)
  await until('the title is set', () => chat.bytes().includes(`${ESC}]2;crabtalk: `))
  chat.type('hello')
  chat.press('enter')
  await chat.shows('An answer.')
  await until('the title had a sign', () => chat.bytes().includes(`${ESC}]2;● crabtalk: `))
  await chat.shows(IDLE)
  await leave(chat)
  const bytes = chat.bytes()
  assert.equal(bytes.split(`${ESC}[22;0t`).length, bytes.split(`${ESC}[23;0t`).length)
  assert.ok(bytes.lastIndexOf(`${ESC}[23;0t`) > bytes.lastIndexOf(`${ESC}]2;crabtalk`))
  assert.ok(bytes.lastIndexOf(`${ESC}[?1004l`) > bytes.lastIndexOf(`${ESC}[?1004h`))
  assert.ok(!bytes.includes(`${ESC}]9;4`), 'an unknown terminal gets no progress')
})

for (const signal of ['SIGTERM', 'SIGHUP'] as const) {
  test(`${signal} restores the title, the focus reports, the progress and the cursor`, async () => {
    const config = withSettings('keymap = "vim"')
    await using talk = await makeTalk([{ parts: ['Once', new Promise<void>(() => {})] }], config)
    const env = { TERM_PROGRAM: 'WezTerm' }
    await using shell = openShell(talk, 'echo $$ > pid; exec crabtalk chat "tell me"', { env })
    await shell.shows('Once')
    await until('the progress is shown', () => shell.bytes().includes(`${ESC}]9;4;3;0${ST}`))
    process.kill(Number(await readFile(join(talk.cwd, 'pid'), 'utf8')), signal)
    await shell.finished
    const end = shell.bytes().slice(shell.bytes().lastIndexOf(`${ESC}]9;4;3;0${ST}`))
    for (const undo of [`${ESC}[23;0t`, `${ESC}[?1004l`, `${ESC}]9;4;0;0${ST}`, `${ESC}[0 q`]) {
      assert.ok(end.includes(undo), JSON.stringify(undo))
    }
  })
}

test('a failed turn rings the bell only while the window is not focused', async () => {
  const refused = { status: 400, body: { error: { message: 'not today' } } }
  await using talk = await makeTalk([refused, refused, refused])
  await using chat = openChat(talk)
  await chat.shows(IDLE)
  await until('focus reports are on', () => chat.bytes().includes(`${ESC}[?1004h`))
  chat.type(FOCUS_IN)
  await fail(chat, 'one')
  assert.equal(bells(chat), 0)
  chat.type('two')
  await chat.shows('> two')
  chat.press('enter')
  chat.type(FOCUS_OUT)
  await until('the bell rings', () => bells(chat) === 1)
  chat.type(FOCUS_IN)
  await chat.shows(IDLE)
  assert.ok(!chat.screen.text().some((line) => line.includes('[I') || line.includes('[O')))
  await leave(chat)

  async function fail(session: Session, text: string): Promise<void> {
    session.type(text)
    session.press('enter')
    await session.shows('not today')
    await session.shows(IDLE)
  }
})

test('a question notifies in the way that is set, and not when that is off', async () => {
  const call = { call: 'a', name: 'bash', args: JSON.stringify({ command: 'touch x' }) }
  const script = () => ({ parts: [call] })
  for (const [notify, expected] of [
    ['osc777', `${ESC}]777;notify;crabtalk;crabtalk: crab asks: `],
    ['off', undefined],
  ] as const) {
    await using talk = await makeTalk(script, withSettings(`notify = "${notify}"`))
    await using chat = openChat(talk)
    await chat.shows(IDLE)
    chat.type(FOCUS_OUT)
    chat.type('do it')
    chat.press('enter')
    await chat.shows(/touch x/)
    if (expected === undefined) assert.ok(!chat.bytes().includes(`${ESC}]777`) && bells(chat) === 0)
    else await until('the notification is sent', () => chat.bytes().includes(expected))
    chat.press('ctrl+c')
    await chat.shows(IDLE)
    await leave(chat)
  }
})

test('reports of the terminal never become text, however they are split', async () => {
  await using talk = await makeTalk([])
  await using chat = openChat(talk, ['chat'], { env: { COLORTERM: 'truecolor' } })
  await chat.shows(IDLE)
  await until('the background is asked for', () => chat.bytes().includes(`${ESC}]11;?${ST}`))
  for (const byte of `a${FOCUS_OUT}b${ESC}]11;rgb:fafa/fafa/fafa${ST}c${FOCUS_IN}d`) chat.type(byte)
  await chat.shows('> abcd')
  chat.press('ctrl+c')
  await chat.shows(IDLE)
  await leave(chat)
})

test('settings take effect while the chat runs, and an invalid file changes nothing', async () => {
  await using talk = await makeTalk([], withSettings('status = ["agent", "directory"]'))
  await using chat = openChat(talk)
  await chat.shows(/^crab · [^·]*$/)
  await change(talk, (text) => text.replace('"directory"', '"daemon"'))
  await chat.shows(/^crab · in process$/)
  await change(talk, (text) => text.replace('"agent"', '"agnet"'))
  await chat.shows(/config\.toml:\d+: "tui\.status\[0\]" must be one of/)
  await chat.shows(/^crab · in process$/)
  await change(talk, (text) => text.replace('"agnet"', '"agent"').concat('keymap = "vim"\n'))
  await chat.shows(/^crab · in process$/)
  chat.type('one two')
  await chat.shows('> one two')
  chat.press('esc')
  await until('the cursor is a block', () => chat.bytes().includes(`${ESC}[2 q`))
  chat.type('bdw')
  await chat.shows(/^> one $|^> one$/)
  chat.type('cctwo')
  await chat.shows('> two')
  chat.press('ctrl+c')
  await leave(chat)

  async function change(box: Talk, edit: (text: string) => string): Promise<void> {
    const path = join(box.home, 'config.toml')
    await writeFile(path, edit(await readFile(path, 'utf8')))
  }
})

test('/config and /theme write config.toml and keep its comments', async () => {
  await using talk = await makeTalk([], (url) => `# mine\n${shortConfig(url)}`)
  await using chat = openChat(talk)
  await chat.shows(IDLE)
  chat.type('/theme')
  chat.press('enter')
  await chat.shows(/^› auto/)
  chat.press('down', 'down')
  await chat.shows(/^› dark/)
  chat.press('enter')
  await chat.shows('Theme: dark')
  chat.type('/config compact_at 70%')
  chat.press('enter')
  await chat.shows('compact_at = 70%')
  chat.type('/config spinner never')
  chat.press('enter')
  await chat.shows(/"tui\.spinner" must be one of/)
  const text = await readFile(join(talk.home, 'config.toml'), 'utf8')
  assert.match(text, /^# mine\n[\s\S]*\n\n\[tui\]\ntheme = "dark"\ncompact_at = 0\.7\n$/)
  await leave(chat)
})

test('Esc in the picker of themes leaves everything as it was', async () => {
  await using talk = await makeTalk([])
  const before = await readFile(join(talk.home, 'config.toml'), 'utf8')
  await using chat = openChat(talk)
  await chat.shows(IDLE)
  chat.type('/theme')
  chat.press('enter')
  await chat.shows(/^› auto/)
  chat.press('down', 'down')
  await chat.shows(/^› dark/)
  chat.press('esc')
  await chat.shows(IDLE)
  await leave(chat)
  assert.equal(await readFile(join(talk.home, 'config.toml'), 'utf8'), before)
})

test('/fullscreen shows the conversation on the alternate screen, and gives it back to the scrollback', async () => {
  await using talk = await makeTalk([{ parts: ['First answer.'] }, { parts: ['Second answer.'] }])
  await using chat = openChat(talk)
  await chat.shows(IDLE)
  await say(chat, 'one', 'First answer.')
  chat.type('/fullscreen')
  chat.press('enter')
  await chat.shows('/fullscreen goes back')
  await chat.shows('First answer.')
  await say(chat, 'two', 'Second answer.')
  await chat.resize(60, 20)
  await chat.shows('Second answer.')
  chat.press('ctrl+o')
  await chat.shows(/PgUp PgDn/)
  chat.type('q')
  await chat.shows(IDLE)
  chat.type('/fullscreen')
  chat.press('enter')
  await chat.shows('The conversation is in the scrollback')
  await leave(chat)
  const text = chat.screen.text().join('\n')
  for (const words of ['First answer.', 'Second answer.']) assert.equal(text.split(words).length, 2, text)
  assert.ok(chat.bytes().split(`${ESC}[?1049h`).length === chat.bytes().split(`${ESC}[?1049l`).length)

  async function say(session: Session, words: string, answer: string): Promise<void> {
    session.type(words)
    session.press('enter')
    await session.shows(answer)
    await session.shows(IDLE)
  }
})

test('plain lines and pipes get no title, no focus reports and no notifications', async () => {
  await using talk = await makeTalk([{ parts: ['An answer.'] }])
  await using chat = openChat(talk, ['chat', '--plain', 'hello'])
  await chat.shows('An answer.')
  await leave(chat)
  assert.ok(!chat.bytes().includes(`${ESC}]`) && !chat.bytes().includes(`${ESC}[?1004`))
})
