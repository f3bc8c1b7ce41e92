import assert from 'node:assert/strict'
import { mkdir, readFile, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { openChat, type Session } from './chat-session.ts'
import { kill } from './processes.ts'
import { type SandboxDaemon, startSandboxDaemon, WITH_DAEMON } from './sandbox-daemon.ts'
import { makeTalk, type Talk } from './talk.ts'

/** The events of a scripted day of windows. */
export interface WindowDay {
  messages: number
  killedWindows: number
  killedDaemons: number
  backgrounds: number
}

/** A project with the window in it, and the words that were said there. */
interface Project {
  name: string
  path: string
  chat: Session
  said: string[]
}

/** Every round with a multiple of the first two numbers kills a window or leaves a turn; the last kills the daemon. */
const KILL_ROUND = 7
const LEAVE_ROUND = 5
const DAEMON_ROUND = 11

/**
 * Works in two windows in two projects for a number of rounds: each message makes the agent run a command in
 * its directory. Windows and the daemon are killed, and turns are put into the background, meanwhile. Fails
 * unless every message is in a conversation of its own project and every command ran in its own directory.
 */
export async function playWindowDay(rounds: number): Promise<WindowDay> {
  await using talk = await makeTalk(answer)
  let daemon = await startSandboxDaemon(talk)
  const projects = await Promise.all(['apples', 'bananas'].map((name) => openProject(talk, name)))
  const day: WindowDay = { messages: 0, killedWindows: 0, killedDaemons: 0, backgrounds: 0 }
  try {
    for (let round = 1; round <= rounds; round++) {
      if (round === DAEMON_ROUND) {
        daemon = await restartDaemon(talk, daemon, projects)
        day.killedDaemons++
      }
      for (const project of projects) {
        await work(project, round)
        day.messages++
      }
      const project = projects[round % projects.length]!
      if (round % LEAVE_ROUND === 0) day.backgrounds += await leaveTurn(project)
      if (round % KILL_ROUND === 0) day.killedWindows += await restartWindow(talk, project)
    }
    for (const { chat } of projects) {
      chat.press('ctrl+d')
      assert.equal((await chat.finished).code, 0)
    }
    await checkDay(talk, projects)
    return day
  } finally {
    for (const { chat } of projects) await chat[Symbol.asyncDispose]()
    await daemon[Symbol.asyncDispose]()
  }
}

/** Runs the command that the last message names, and repeats the message when it has run. */
function answer({ text }: { text: string }) {
  const { messages } = JSON.parse(text) as { messages: { role: string; content: unknown }[] }
  const question = messages.findLast(({ role }) => role === 'user')
  const word = /(?:apples|bananas)-\d+\w*/.exec(JSON.stringify(question?.content))?.[0] ?? 'nothing'
  if (messages.at(-1)?.role === 'tool') return { parts: [`Noted ${word}.`] }
  const command = JSON.stringify({ command: `echo ${word} >> log` })
  return { parts: [{ call: `c${messages.length}`, name: 'bash', args: command }], paceMs: 5 }
}

async function openProject(talk: Talk, name: string): Promise<Project> {
  const path = join(talk.cwd, name)
  await mkdir(path)
  const chat = openWindow(talk, path)
  await chat.shows('· daemon')
  return { name, path: await realpath(path), chat, said: [] }
}

function openWindow(talk: Talk, cwd: string): Session {
  return openChat(talk, ['chat', '--allow', 'bash'], { env: WITH_DAEMON, cwd, rows: 30, columns: 160 })
}

async function work(project: Project, round: number | string): Promise<void> {
  const word = `${project.name}-${round}`
  project.said.push(word)
  project.chat.type(`note ${word}\r`)
  await project.chat.shows(`Noted ${word}.`)
  await isIdle(project.chat)
}

/** Leaves a turn, works in the new conversation, and returns to the last one. */
async function leaveTurn(project: Project): Promise<number> {
  const { chat, name, said } = project
  const word = `${name}-${said.length}left`
  said.push(word)
  chat.type(`note ${word}\r`)
  await chat.shows(`▌ note ${word}`)
  chat.type('/new\r')
  await chat.shows('new conversation')
  await isIdle(chat)
  await work(project, `${said.length}new`)
  return 1
}

/** Kills a window, and opens the directory again: its conversation continues. */
async function restartWindow(talk: Talk, project: Project): Promise<number> {
  kill(project.chat.pid)
  await project.chat.finished
  await project.chat[Symbol.asyncDispose]()
  project.chat = openWindow(talk, project.path)
  await project.chat.shows(`Noted ${project.said.at(-1)}.`)
  await isIdle(project.chat)
  return 1
}

async function restartDaemon(
  talk: Talk,
  daemon: SandboxDaemon,
  projects: readonly Project[],
): Promise<SandboxDaemon> {
  daemon.kill('SIGKILL')
  await daemon.finished
  for (const { chat } of projects) await chat.shows(/· daemon\s*$/m)
  return {
    ...daemon,
    [Symbol.asyncDispose]: async () => void (await talk.run(['daemon', 'stop'], { env: WITH_DAEMON })),
  }
}

async function isIdle(chat: Session): Promise<void> {
  await chat.shows((screen) => {
    const lines = screen.lines()
    return (
      !lines.some((line) => line.includes('esc to interrupt')) &&
      lines.some((line) => line.includes('> Ask anything'))
    )
  })
}

/** Checks that each message and each command is where it belongs, once. */
async function checkDay(talk: Talk, projects: readonly Project[]): Promise<void> {
  const sessions = await talk.sessions()
  for (const { name, path, said } of projects) {
    const own = sessions.filter(({ header }) => header['cwd'] === path)
    const words = own.flatMap((session) => session.said).filter((line) => line.startsWith('user: '))
    assert.deepEqual(words.toSorted(), said.map((word) => `user: note ${word}`).toSorted(), name)
    const log = (await readFile(join(path, 'log'), 'utf8')).trim().split('\n')
    assert.deepEqual(log.toSorted(), said.toSorted(), `commands in ${name}`)
  }
  const total = sessions.flatMap(({ said }) => said).filter((line) => line.startsWith('user: '))
  assert.equal(
    total.length,
    projects.reduce((sum, { said }) => sum + said.length, 0),
  )
}
