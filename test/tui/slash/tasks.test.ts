import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempDisposable, readdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readGit } from '../../../src/commands/chat/read-git.ts'
import { readTypedMessage } from '../../../src/core/base/typed-message.ts'
import { openProcessHost } from '../../../src/core/process/process-host.ts'
import { route } from '../../../src/core/protocol/dispatch.ts'
import type { ChatPorts } from '../../../src/tui/ports.ts'
import { onChosen, runSlash } from '../../../src/tui/slash/run.ts'
import { createSlashChat, type SlashChat } from './slash-chat.ts'

const NEVER = new AbortController().signal

/** Checks that a stored task is shown as the line that sent it; `sent` is `send LINE: TASK`. */
function assertReadsAsTyped(sent: string): void {
  const [, line = '', task = ''] = /^send (.*?): (.*)$/s.exec(sent) ?? []
  assert.equal(readTypedMessage(task).text, line)
}

test('/init asks the agent for an AGENTS.md, and names the files that it replaces', async () => {
  const fresh = chatIn([])
  await runSlash('/init', fresh.context, NEVER)
  assert.match(fresh.done[0]!, /^send \/init: Write an AGENTS\.md for this repository/)
  assert.doesNotMatch(fresh.done[0]!, /replaces/)
  const other = chatIn(['CLAUDE.md', 'GEMINI.md', 'docs/AGENTS.md'])
  await runSlash('/init', other.context, NEVER)
  assert.match(other.done[0]!, /still true of CLAUDE\.md and GEMINI\.md, which AGENTS\.md replaces/)
  for (const { done } of [fresh, other]) assertReadsAsTyped(done[0]!)
})

test('/init asks before an existing file is touched, and then improves it', async () => {
  const chat = chatIn(['AGENTS.md', 'CLAUDE.md'])
  await runSlash('/init', chat.context, NEVER)
  assert.equal(chat.done.length, 0)
  const { overlay } = chat.state()
  assert.ok(overlay?.kind === 'picker')
  assert.deepEqual(
    [overlay.title, overlay.items.map(({ label }) => label)],
    ['AGENTS.md exists', ['Improve it', 'Leave it as it is']],
  )
  const choose = (value: string) => onChosen({ type: 'chosen', picker: 'init', value }, chat.context, NEVER)
  await choose(overlay.items[1]!.value)
  assert.equal(chat.done.length, 0)
  await choose(overlay.items[0]!.value)
  assert.match(chat.done[0]!, /^send \/init: Improve the AGENTS\.md of this repository/)
  assertReadsAsTyped(chat.done[0]!)
})

test('/review describes the changes of the working tree, or those since a branch, or what the words name', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-review-'))
  const chat = chatIn([], folder.path)
  await runSlash('/review', chat.context, NEVER)
  assert.match(JSON.stringify(chat.blocks().at(-1)), /not in a git repository/)
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...words], { cwd: folder.path })
  git('init', '-q', '-b', 'trunk')
  git('commit', '-q', '--allow-empty', '-m', 'first')
  await runSlash('/review', chat.context, NEVER)
  assert.match(JSON.stringify(chat.blocks().at(-1)), /no uncommitted changes/)
  assert.equal(chat.done.length, 0)
  await writeFile(join(folder.path, 'new.ts'), 'x')
  for (const line of [
    '/review',
    '/review trunk',
    '/review the parser',
    '/review src/nothing.ts',
    '/review --help',
  ])
    await runSlash(line, chat.context, NEVER)
  assert.deepEqual(
    chat.done.map((text) => text.split('\n', 1)[0]),
    [
      'send /review: Review the uncommitted changes of this repository.',
      'send /review trunk: Review the changes since trunk, committed or not.',
      'send /review the parser: Review this: the parser',
      'send /review src/nothing.ts: Review this: src/nothing.ts',
      'send /review --help: Review this: --help',
    ],
  )
  for (const sent of chat.done) assertReadsAsTyped(sent)
})

test('/review starts no program that the repository names', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-review-'))
  const { path: cwd } = folder
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...words], { cwd })
  const program = (name: string) => `touch ${join(cwd, `ran-${name}`)}; cat`
  git('init', '-q', '-b', 'trunk')
  await writeFile(join(cwd, 'file.txt'), 'one')
  await writeFile(join(cwd, '.gitattributes'), '*.txt filter=own\n')
  git('add', '.')
  git('commit', '-q', '-m', 'first')
  const chat = chatIn([], cwd)
  git('config', 'core.fsmonitor', program('fsmonitor'))
  await writeFile(join(cwd, 'file.txt'), 'two')
  await runSlash('/review', chat.context, NEVER)
  await runSlash('/review trunk', chat.context, NEVER)
  git('config', 'filter.own.clean', program('filter'))
  await writeFile(join(cwd, 'file.txt'), 'six')
  await runSlash('/review', chat.context, NEVER)
  await runSlash('/review trunk', chat.context, NEVER)
  assert.deepEqual(
    (await readdir(cwd)).filter((name) => name.startsWith('ran-')),
    [],
  )
  assert.deepEqual(
    chat.done.map((text) => text.split('\n', 1)[0]),
    [
      'send /review: Review the uncommitted changes of this repository.',
      'send /review trunk: Review the changes since trunk, committed or not.',
      'send /review: Review the uncommitted changes of this repository.',
      'send /review trunk: Review this: trunk',
    ],
  )
  for (const sent of chat.done) assertReadsAsTyped(sent)
  assert.match(chat.done[3]!, /If that is a branch or commit, review the changes since it/)
})

/** A chat in a folder that has these files. */
function chatIn(files: readonly string[], cwd = '/'): SlashChat {
  const chat = createSlashChat(route({ listSkills: async () => ({ skills: [], problems: [] }) }))
  const processes = openProcessHost({ pid: process.pid })
  const env = { PATH: process.env['PATH'] ?? '', HOME: join(cwd, 'no-home') }
  const options = { processes, cwd, env, homeDir: join(cwd, 'no-home'), spillFolder: join(cwd, 'spill') }
  const ports: ChatPorts = {
    ...chat.context.ports,
    readGit: (args, signal) => readGit(args, options, signal),
    hasFile: async (name) => files.includes(name),
  }
  return { ...chat, context: { ...chat.context, ports } }
}
