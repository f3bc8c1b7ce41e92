import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { test } from 'node:test'
import { followTerminal, openChat, type Session } from '../support/chat-session.ts'
import { readAndChoose } from '../support/choose-digit.ts'
import { startSandboxDaemon, WITH_DAEMON } from '../support/sandbox-daemon.ts'
import { makeTalk, type Talk } from '../support/talk.ts'

const FILES = Array.from({ length: 40 }, (_, at) => `made-${at}`)
const CALL = {
  call: 'c1',
  name: 'bash',
  args: JSON.stringify({ command: `sh -c true && touch ${FILES.join(' ')}` }),
}
const RISK = '--allow: allow bash(sh *) permits any command without asking; allow the commands themselves'
const NIGHT = ['chat', '-s', 'night'] as const

/** Starts a daemon with one parked question, whose command matches a very broad rule. */
async function parked() {
  const talk = await makeTalk([{ parts: [CALL] }, { parts: ['Done.'] }])
  const daemon = await startSandboxDaemon(talk)
  const args = ['--detach', '--on-ask', 'park', '-s', 'night', '--allow', 'bash(sh *)', 'go']
  const sent = await talk.send(args, { env: WITH_DAEMON })
  assert.equal(sent.code, 0, sent.stderr)
  return {
    talk,
    async [Symbol.asyncDispose]() {
      await daemon[Symbol.asyncDispose]()
      await talk[Symbol.asyncDispose]()
    },
  }
}

/** Returns all text on a terminal, without the line breaks and margins of its width. */
function readScreenText({ screen }: Session): string {
  return screen.text().join(' ').replaceAll(/\s+/g, ' ')
}

async function assertMade(talk: Talk, isMade: boolean): Promise<void> {
  const made = (await readdir(talk.cwd)).filter((name) => name.startsWith('made-'))
  assert.equal(made.length, isMade ? FILES.length : 0)
}

for (const [columns, rows] of [
  [80, 24],
  [40, 15],
] as const) {
  test(`answer and chat --plain show the risk line at ${columns}x${rows}`, async () => {
    await using at = await parked()
    const { talk } = at
    await using plain = openChat(talk, [...NIGHT, '--plain'], { columns, rows, env: WITH_DAEMON })
    await plain.holds(/details/)
    assert.ok(readScreenText(plain).includes(`risk ${RISK}`), readScreenText(plain))
    const { stdout } = await talk.run(['asks', '--json'], { env: WITH_DAEMON })
    const [{ id }] = JSON.parse(stdout) as [{ id: string }]
    const options = { columns, rows, env: WITH_DAEMON }
    await using answer = followTerminal(talk.terminal(['answer', id], options), options)
    await answer.shows(/^> ?$/)
    assert.ok(readScreenText(answer).includes(`risk ${RISK}`), readScreenText(answer))
    answer.type('1\r')
    if (columns === 40) {
      await answer.holds('this is the whole request')
      await assertMade(talk, false)
      await answer.shows((screen) => screen.text().filter((line) => /^>( 1)? *$/.test(line)).length === 2)
      answer.type('1\r')
    }
    assert.equal((await answer.finished).code, 0)
    await plain.shows('Done.')
    await assertMade(talk, true)
  })
}

test('a card at 40x15 shows the risk line before it accepts a yes, and pages to its end', async () => {
  await using at = await parked()
  const { talk } = at
  await using chat = openChat(talk, NIGHT, { columns: 40, rows: 15, env: WITH_DAEMON })
  await chat.shows(/1–\d\/\d+/)
  assert.ok(!chat.bytes().includes('--allow:'), 'the first page has no room for it')
  await readAndChoose(chat, '1', 'Done.')
  assert.ok(chat.bytes().includes('--allow: allow bash(sh'), 'it was on the screen')
  await assertMade(talk, true)
})
