import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { ACCIDENTS, type Stroke } from '../support/accident-corpus.ts'
import { openChat, type Session } from '../support/chat-session.ts'
import { propertyRuns } from '../support/property-runs.ts'
import { startSandboxDaemon, WITH_DAEMON } from '../support/sandbox-daemon.ts'
import { makeTalk, type Talk } from '../support/talk.ts'
import { until } from '../support/until.ts'

const BASH = { call: 'c', name: 'bash', args: '{"command":"touch allowed"}' }
const FORM = {
  call: 'c',
  name: 'ask_user',
  args: JSON.stringify({ questions: [{ question: 'Which?', options: [{ label: 'yes' }, { label: 'no' }] }] }),
}
const NEVER = new Promise<void>(() => {})

/**
 * Every sixteenth entry of the corpus, in the nightly run every second, without commands of the chat, which open other
 * screens; all entries are typed against the controller, with a clock of the test.
 */
const TYPED = ACCIDENTS.filter(([first]) => typeof first !== 'string' || !/^[/!#@?]/.test(first)).filter(
  (_, at) => at % (propertyRuns(2, 1) > 1 ? 2 : 16) === 0,
)

for (const [what, call] of [
  ['a permission', BASH],
  ['a form', FORM],
] as const) {
  test(`text typed before and after ${what} appears is sent as messages and answers nothing`, async () => {
    const gate = Promise.withResolvers<void>()
    await using talk = await makeTalk([{ parts: ['Working.', gate.promise, call] }, { parts: [NEVER] }])
    await using chat = openChat(talk, ['chat', 'go'])
    await chat.shows('Working.')
    for (const [at, strokes] of TYPED.entries()) {
      await typeAll(chat, strokes)
      if (at === 2) gate.resolve()
    }
    await chat.shows(what === 'a form' ? '2  no' : '❯ 4  No')
    await assertNothingAnswered(talk)
    await assertSent(talk)
  })
}

test('text typed while another conversation asks is sent here and answers nothing there', async () => {
  await using talk = await makeTalk((request) =>
    JSON.stringify(request.json['messages']).includes('ask me') ? { parts: [BASH] } : { parts: ['Noted.'] },
  )
  const env = WITH_DAEMON
  await using _daemon = await startSandboxDaemon(talk)
  await using chat = openChat(talk, ['chat', '-s', 'ann'], { env })
  await chat.shows('· daemon')
  const sent = await talk.send(['--detach', '--on-ask', 'park', '-s', 'night', 'ask me'], { env })
  assert.equal(sent.code, 0, sent.stderr)
  for (const strokes of TYPED) await typeAll(chat, strokes)
  await chat.shows('crab asks in "night": /asks')
  assert.deepEqual((await readdir(talk.cwd)).includes('allowed'), false)
  await assertSent(talk)
  const asks = await talk.run(['asks', '--json'], { env })
  assert.equal(JSON.parse(asks.stdout).length, 1)
})

/** Types at human speed. */
async function typeAll(chat: Session, strokes: readonly Stroke[]): Promise<void> {
  for (const stroke of strokes) {
    if (typeof stroke === 'string') for (const key of stroke) await press(() => chat.type(key))
    else if ('paste' in stroke) await press(() => chat.paste(stroke.paste))
    else if ('ctrl' in stroke)
      await press(() => chat.type(String.fromCharCode(stroke.ctrl.charCodeAt(0) - 96)))
    else await press(() => chat.press(stroke.key === 'escape' ? 'esc' : stroke.key))
  }
}

const PACE_MS = 45

async function press(act: () => void): Promise<void> {
  act()
  await pause(PACE_MS)
}

async function assertNothingAnswered(talk: Talk): Promise<void> {
  assert.equal(talk.server.requests.length, 1, 'no answer went back to the model')
  assert.deepEqual((await readdir(talk.cwd)).includes('allowed'), false)
  const agent = await readFile(join(talk.home, 'agents/crab.toml'), 'utf8').catch(() => '')
  assert.doesNotMatch(agent, /allow/)
}

/** Checks that every sentence that ends with Enter is in the history of sent messages. */
async function assertSent(talk: Talk): Promise<void> {
  const texts = TYPED.flatMap((strokes) => {
    const [text, enter] = strokes
    return typeof text === 'string' && strokes.length === 2 && typeof enter === 'object' ? [text.trim()] : []
  }).filter((text) => !text.startsWith('?') && !/^\d+$/.test(text)) // digits alone are not sent while a card is up
  assert.ok(texts.length > 10)
  await until('every sentence was sent', async () => {
    const history = await readFile(join(talk.home, 'history'), 'utf8').catch(() => '')
    return texts.every((text) => history.includes(JSON.stringify(text).slice(1, -1)))
  })
}
