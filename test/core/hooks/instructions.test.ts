import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { instructionsHook } from '../../../src/core/hooks/instructions.ts'

const PREFIX = join(tmpdir(), 'crab-')

test('instructionsHook() layers the home’s file and one of each folder, from the root down', async () => {
  const files = {
    'home/Crab.md': 'of the home',
    'a/Crab.md': 'of a',
    'a/AGENTS.md': 'not this one',
    'a/b/AGENTS.md': 'of b',
    'a/b/c/Crab.md': '\n of c \n\n',
    'a/b/c/d/Crab.md': 'below',
  }
  await using dir = await makeFiles(files)
  const blocks = [
    ['home/Crab.md', 'of the home'],
    ['a/Crab.md', 'of a'],
    ['a/b/AGENTS.md', 'of b'],
    ['a/b/c/Crab.md', 'of c'],
  ].map(([name, text]) => `<instructions from="${join(dir.path, name!)}">\n${text}\n</instructions>`)
  assert.equal(await contextOf(dir.path, 'a/b/c'), blocks.join('\n'))
})

test('instructionsHook() has nothing to say where there are no files, or blank ones', async () => {
  await using dir = await makeFiles({ 'a/Crab.md': ' \n', 'a/b/keep': '' })
  assert.equal(await contextOf(dir.path, 'a/b'), '')
  assert.equal(await contextOf(dir.path, 'gone/below'), '')
})

test('instructionsHook() reads AGENTS.md where Crab.md is blank', async () => {
  await using dir = await makeFiles({ 'a/Crab.md': '', 'a/AGENTS.md': 'of agents' })
  assert.match(await contextOf(dir.path, 'a'), /AGENTS\.md">\nof agents\n/)
})

test('instructionsHook() takes the home’s file once when one works inside the home', async () => {
  await using dir = await makeFiles({ 'home/Crab.md': 'of the home', 'home/sub/keep': '' })
  assert.equal((await contextOf(dir.path, 'home/sub')).match(/of the home/g)?.length, 1)
})

test('instructionsHook() takes a folder, or a pipe, of that name for no file', async () => {
  await using dir = await makeFiles({ 'a/Crab.md/x': '', 'a/AGENTS.md': 'of a', 'a/b/keep': '' })
  execFileSync('mkfifo', [join(dir.path, 'a/b/Crab.md')])
  const text = await contextOf(dir.path, 'a/b')
  assert.deepEqual(text.match(/^of.*$/gm), ['of a'])
})

test('instructionsHook() sees a file that changed', async () => {
  await using dir = await makeFiles({ 'a/Crab.md': 'before' })
  const hook = instructionsHook({ homeFile: join(dir.path, 'none') })
  assert.match((await hook.context?.(join(dir.path, 'a'))) ?? '', /before/)
  await writeFile(join(dir.path, 'a', 'Crab.md'), 'after')
  assert.match((await hook.context?.(join(dir.path, 'a'))) ?? '', /after/)
})

test('instructionsHook() cuts what is too long, never inside a character, and says so', async () => {
  await using dir = await makeFiles({ 'a/Crab.md': `x${'🦀'.repeat(40_000)}` })
  const text = await contextOf(dir.path, 'a')
  assert.match(text, /\n\[cut after 32768 characters\]\n<\/instructions>$/)
  assert.ok(text.isWellFormed())
  assert.ok(text.length < 33_500)
})

async function contextOf(root: string, cwd: string): Promise<string> {
  const hook = instructionsHook({ homeFile: join(root, 'home', 'Crab.md') })
  return (await hook.context?.(join(root, cwd))) ?? ''
}

/** A folder with these files. */
async function makeFiles(files: Readonly<Record<string, string>>) {
  const dir = await mkdtempDisposable(PREFIX)
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(dir.path, name)), { recursive: true })
    await writeFile(join(dir.path, name), text)
  }
  return dir
}
