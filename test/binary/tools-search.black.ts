import assert from 'node:assert/strict'
import { chmod, mkdir, readdir, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeToolTalk, type ToolTalk } from '../support/tool-talk.ts'

test('glob and grep search the working directory without a question', async () => {
  await using talk = await makeToolTalk()
  await fill(talk.cwd)
  const answers = await talk.act([
    ['glob', { pattern: '**/*.ts' }],
    ['grep', { pattern: 'needle' }],
    ['grep', { pattern: 'NEEDLE', ignoreCase: true, mode: 'count', glob: '*.ts' }],
    ['grep', { pattern: '(' }],
  ])
  assert.deepEqual(answers, [
    'src/new.ts\nsrc/old.ts',
    'notes.md\n1:a needle\n\nsrc/old.ts\n2:// needle',
    'src/old.ts: 1',
    'Cannot search: the pattern is not a valid regular expression: unclosed group',
  ])
})

test('the first search unpacks ripgrep, and later ones reuse it', async () => {
  await using talk = await makeToolTalk()
  await fill(talk.cwd)
  await talk.act([])
  assert.deepEqual(await unpacked(talk), [], 'a turn that does not search unpacks nothing')
  await talk.act([['glob', { pattern: '*.ts' }]])
  const [first, ...others] = await unpacked(talk)
  assert.match(first!.name, /^[0-9a-f]{16}\/rg 700$/)
  assert.deepEqual(others, [])
  await talk.act([['grep', { pattern: 'needle' }]])
  assert.deepEqual(await unpacked(talk), [first])
})

test('several programs can unpack ripgrep concurrently', async () => {
  await using talk = await makeToolTalk()
  await fill(talk.cwd)
  const calls = [['grep', { pattern: 'needle', mode: 'files' }]] as const
  const answers = await Promise.all(['a', 'b', 'c', 'd'].map((sender) => talk.act(calls, ['-s', sender])))
  assert.deepEqual(
    answers,
    Array.from(answers, () => ['notes.md\nsrc/old.ts']),
  )
  assert.equal((await unpacked(talk)).length, 1)
})

test('a search works where ripgrep cannot be unpacked, or must not run', async () => {
  await using talk = await makeToolTalk()
  await fill(talk.cwd)
  const search = () =>
    talk.act([['grep', { pattern: 'needle', mode: 'files' }]], [], { env: { PATH: '/usr/bin:/bin' } })
  await writeFile(join(talk.home, 'cache'), 'a file is in the way')
  assert.deepEqual(await search(), ['notes.md\nsrc/old.ts'])
  await talk.shell('rm "$CRABTALK_HOME/cache"')
  await search()
  const [{ name } = { name: '' }] = await unpacked(talk)
  await chmod(join(talk.home, 'cache/bin', name.split(' ')[0]!), 0o600)
  assert.deepEqual(await search(), ['notes.md\nsrc/old.ts'])
})

test('a search of the home does not show the files with keys', async () => {
  await using talk = await makeToolTalk()
  await writeFile(join(talk.home, 'Crab.md'), 'scripted\n')
  const calls = [
    ['grep', { pattern: 'scripted', mode: 'files' }],
    ['glob', { pattern: '*.toml' }],
    ['grep', { pattern: 'scripted', path: 'config.toml' }],
  ] as const
  const answers = await talk.act(calls, ['--no-save'], { cwd: talk.home })
  assert.deepEqual(answers, [
    'Crab.md',
    'No files found.',
    'Cannot search config.toml: crabtalk keeps its own files there',
  ])
})

test('a search shows nothing that a rule denies, and nothing outside unless a rule allows it', async () => {
  await using talk = await makeToolTalk()
  await fill(talk.cwd)
  const outside = join(talk.home, '../outside')
  await mkdir(outside)
  await writeFile(join(outside, 'x.md'), 'needle\n')
  const calls = [
    ['grep', { pattern: 'needle', mode: 'files' }],
    ['grep', { pattern: 'needle', mode: 'files', path: outside }],
  ] as const
  const [inside, refused] = await talk.act(calls, ['--deny', 'read(src/**)'])
  assert.equal(inside, 'notes.md')
  assert.match(refused!, /^Not permitted: read /)
  const [, allowed] = await talk.act(calls, ['--allow', `read(${outside}/**)`])
  assert.equal(allowed, join(outside, 'x.md'))
})

async function fill(folder: string): Promise<void> {
  await mkdir(join(folder, 'src'))
  await writeFile(join(folder, 'notes.md'), 'a needle\n')
  await writeFile(join(folder, 'src/old.ts'), 'const a = 1\n// needle\n')
  await writeFile(join(folder, 'src/new.ts'), 'const b = 1\n')
  await utimes(join(folder, 'src/old.ts'), 1, 1)
}

/** Lists the programs in the cache with their modes and inodes. */
async function unpacked({ home }: ToolTalk): Promise<{ name: string; ino: number }[]> {
  const folder = join(home, 'cache/bin')
  const names = await readdir(folder, { recursive: true }).catch(() => [])
  const files = await Promise.all(
    names.map(async (name) => ({ name, stats: await stat(join(folder, name)) })),
  )
  return files
    .filter(({ stats }) => stats.isFile())
    .map(({ name, stats }) => ({ name: `${name} ${(stats.mode & 0o777).toString(8)}`, ino: stats.ino }))
}
