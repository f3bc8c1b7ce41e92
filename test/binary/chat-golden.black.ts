import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { openChat, type Session } from '../support/chat-session.ts'
import { assertGolden, captureScreen } from '../support/chat-session-golden.ts'
import { chooseDigit } from '../support/choose-digit.ts'
import { makeTalk } from '../support/talk.ts'

for (const columns of [40, 80, 200]) {
  const size = { columns, rows: 30 }

  test(`renders an answer with a table and code at ${columns} columns`, async () => {
    const gate = Promise.withResolvers<void>()
    await using talk = await makeTalk([
      { parts: [ANSWER.slice(0, 210), gate.promise, ANSWER.slice(210)], usage: USAGE },
    ])
    await using chat = openChat(talk, ['chat', 'Compare', 'the', 'two'], { columns, rows: 40 }) // nothing scrolls away
    const half = await captureScreen(chat, 'The first one is simple', 'simple │', ' writing ')
    gate.resolve()
    await isIdle(chat, 'That is all')
    await assertGolden(`answer-${columns}`, [
      half,
      chat.screen.text(),
      ...(columns === 80 ? [chat.screen.styled()] : []),
    ])
    await leave(chat)
  })

  test(`renders a tool call with a diff and its permission card at ${columns} columns`, async () => {
    await using talk = await makeTalk([
      { parts: ['Let me look.', { call: 'a', name: 'read', args: '{"path":"greeting.ts"}' }] },
      { parts: [{ call: 'b', name: 'edit', args: EDIT }] },
      { parts: ['It says goodbye now.'] },
    ])
    await writeFile(join(talk.cwd, 'greeting.ts'), GREETING)
    await using chat = openChat(talk, ['chat', 'Say goodbye instead'], size)
    const card = await captureScreen(chat, 'waiting for you', 'Change a file', 'A digit or arrows')
    await chooseDigit(chat, '1')
    await isIdle(chat, 'It says goodbye now.')
    await assertGolden(`edit-${columns}`, [card, chat.screen.text()])
    await leave(chat)
  })

  test(`renders a question form at ${columns} columns`, async () => {
    await using talk = await makeTalk([
      { parts: [{ call: 'a', name: 'ask_user', args: QUESTIONS }] },
      { parts: ['Red and round it is.'] },
    ])
    await using chat = openChat(talk, ['chat', 'Paint it'], size)
    const first = await captureScreen(chat, 'waiting for you', '│ Which colour', 'A digit or arrows')
    await chooseDigit(chat, '1')
    const second = await captureScreen(chat, 'waiting for you', '│ Which shape', 'A digit or arrows')
    await chooseDigit(chat, '1')
    await chat.shows('Type your answer')
    chat.type('round\r')
    const review = await captureScreen(chat, 'waiting for you', 'Send these answers', 'A digit or arrows')
    await chooseDigit(chat, '1')
    await isIdle(chat, 'Red and round it is.')
    await assertGolden(`form-${columns}`, [first, second, review, chat.screen.text()])
    await leave(chat)
  })

  test(`renders steering and an interrupt at ${columns} columns`, async () => {
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await using talk = await makeTalk([
      { parts: ['Counting: one, two', gates[0]!.promise, ', three.'] },
      { parts: ['In French: un, deux', gates[1]!.promise] },
    ])
    await using chat = openChat(talk, ['chat', 'Count'], size)
    await chat.shows('one, two')
    chat.type('in French')
    chat.press('enter')
    await chat.shows('next: in French')
    await steersAreAccepted(chat, talk.cwd)
    const steered = await captureScreen(chat, ' writing ', 'next: in French', 'Esc interrupts')
    gates[0]!.resolve()
    await chat.shows('un, deux')
    chat.press('esc')
    await isIdle(chat, 'Interrupted')
    await assertGolden(`steer-${columns}`, [steered, chat.screen.text()])
    await leave(chat)
    gates[1]!.resolve()
  })

  test(`renders a resumed conversation at ${columns} columns`, async () => {
    await using talk = await makeTalk([{ parts: [ANSWER] }, { parts: ['You asked me to compare.'] }])
    await using first = openChat(talk, ['chat', 'Compare the two'], size)
    await isIdle(first, 'That is all')
    await leave(first)
    await using second = openChat(talk, ['chat'], size)
    await isIdle(second, 'That is all')
    second.type('What did I ask?')
    second.press('enter')
    await isIdle(second, 'You asked me to compare.')
    await assertGolden(`resume-${columns}`, [second.screen.text()])
    await leave(second)
    const [, request] = talk.server.requests
    const messages = JSON.stringify(request?.json['messages'])
    for (const words of ['Compare the two', 'That is all', 'What did I ask?']) {
      if (!messages.includes(words)) throw new Error(`the next turn does not know "${words}"`)
    }
  })
}

async function isIdle(chat: Session, answer: string): Promise<void> {
  await chat.shows((screen) => {
    const lines = screen.lines()
    const isWorking = lines.some((line) => /^[⠁-⣿] /.test(line))
    const isFree = lines.some((line) => line.startsWith('> Ask anything'))
    return !isWorking && isFree && lines.some((line) => line.includes(answer))
  })
}

/**
 * Waits until the running turn has accepted the steers that the chat shows. The chat sends one after another, and a
 * message with an image is queued only when those before it are accepted; it is then removed again.
 */
async function steersAreAccepted(chat: Session, cwd: string): Promise<void> {
  await writeFile(join(cwd, 'dot.png'), DOT)
  chat.type('@dot.png is next')
  chat.press('enter')
  await chat.shows('then: @dot.png is next')
  chat.press('alt+up')
  await chat.shows('> @dot.png is next')
  chat.press('ctrl+u')
  await chat.shows('Esc interrupts')
}

async function leave(chat: Session): Promise<void> {
  chat.press('ctrl+d')
  await chat.finished
}

/** A PNG of one pixel. */
const DOT = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

const USAGE = { input: 1200, output: 340 }

const ANSWER = `## Two ways

The first one is **simple**, the second is *fast*, and both are long enough to be wrapped on a narrow terminal.

| way | lines | speed |
| :-- | --: | :-: |
| simple | 12 | slow, as it reads everything twice |
| fast | 140 | quick |

\`\`\`ts
/** Says hello. */
export function greet(name: string): string {
  return \`Hello, \${name}!\`
}
\`\`\`

- a list
- with *two* items

That is all.`

const GREETING = `export function greet(name: string): string {
  const words = ['Hello', name]
  return words.join(', ')
}
`

const EDIT = JSON.stringify({
  path: 'greeting.ts',
  edits: [{ old: "['Hello', name]", new: "['Goodbye', name]" }],
})

const QUESTIONS = JSON.stringify({
  questions: [
    {
      question: 'Which colour?',
      header: 'Colour',
      options: [
        { label: 'Red', description: 'as a crab that is cooked' },
        { label: 'Blue', description: 'as the sea it lives in, far from the shore and deep below the waves' },
      ],
    },
    { question: 'Which shape?', header: 'Shape', options: [] },
  ],
})
