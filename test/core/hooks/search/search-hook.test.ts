import assert from 'node:assert/strict'
import { link, readdir, symlink, utimes, writeFile } from 'node:fs/promises'
import { after, test } from 'node:test'
import { installedRipgrep } from '../../../../bin/ripgrep.ts'
import type { SearchEngine } from '../../../../src/core/hooks/search/engine.ts'
import { ripgrepEngine } from '../../../../src/core/hooks/search/ripgrep.ts'
import { type SearchHookOptions, searchHook } from '../../../../src/core/hooks/search/search-hook.ts'
import { openProcessHost } from '../../../../src/core/process/process-host.ts'
import { describeTool, runTool, type ToolPlace } from '../../../support/tool-run.ts'
import { makeTree, type Tree } from '../../../support/trees.ts'

const processes = openProcessHost({ pid: process.pid })
after(() => processes[Symbol.asyncDispose]())
const ripgrep = ripgrepEngine({ processes, program: installedRipgrep(import.meta.filename)!, env: {} })

test('glob lists files newest first, those of one time by path', async () => {
  await using tree = await makeTree({ 'b.ts': '', 'a.ts': '', 'deep/new.ts': '', 'x.js': '' })
  for (const [name, time] of [
    ['a.ts', 1000],
    ['b.ts', 1000],
    ['deep/new.ts', 2000],
  ] as const) {
    await utimes(tree.path(name), time, time)
  }
  assert.equal(await say(tree, 'glob', { pattern: '*.ts' }), 'deep/new.ts\na.ts\nb.ts')
})

test('glob says how many more files match, and when no file matches', async () => {
  await using tree = await makeTree(
    Object.fromEntries(Array.from({ length: 203 }, (_, n) => [`${n}.txt`, ''])),
  )
  const lines = (await say(tree, 'glob', { pattern: '*.txt' })).split('\n')
  assert.deepEqual([lines.length, lines.at(-1)], [201, '[3 more]'])
  assert.equal(await say(tree, 'glob', { pattern: '*.md' }), 'No files found.')
})

test('glob says how many files it omits because their names are not UTF-8', async () => {
  await using tree = await makeTree({ 'a.txt': '', 'b\ufffd.txt': '' })
  const name = Buffer.concat([Buffer.from(tree.path('caf')), Buffer.from([0xe9]), Buffer.from('.txt')])
  const isMade = await writeFile(name, '').then(
    () => true,
    () => false, // disks of macOS have no such names
  )
  const note = isMade ? ['[1 more, with names that are not UTF-8; bash reaches those]'] : []
  const lines = (await say(tree, 'glob', { pattern: '*.txt' })).split('\n')
  assert.deepEqual(lines.toSorted(), [...note, 'a.txt', 'b\ufffd.txt'].toSorted())
})

test('glob searches the folder that a path or the pattern begins with', async () => {
  await using tree = await makeTree({ 'src/a.ts': '', 'src/deep/b.ts': '', 'c.ts': '', 'work/x': '' })
  assert.equal(await say(tree, 'glob', { pattern: '*.ts', path: 'src/deep' }), 'src/deep/b.ts')
  assert.equal(await say(tree, 'glob', { pattern: `${tree.root}/src/*.ts` }), 'src/a.ts')
  const work = { ...tree, root: tree.path('work') }
  assert.equal(await say(work, 'glob', { pattern: '../c.ts' }), tree.path('c.ts'))
  assert.deepEqual(await describeTool(makeHook(), 'glob', { pattern: `${tree.root}/src/**/*.ts` }, '/tmp'), {
    kind: 'read',
    path: tree.path('src'),
    shown: `${tree.root}/src/`,
  })
})

test('grep shows lines below the names of their files, ordered by path', async () => {
  await using tree = await makeTree({ 'b.ts': 'x\nneedle 1\n', 'a/c.ts': 'needle 2\r\nneedle 3\r\n' })
  assert.equal(
    await say(tree, 'grep', { pattern: 'needle' }),
    'a/c.ts\n1:needle 2\n2:needle 3\n\nb.ts\n2:needle 1',
  )
  assert.equal(await say(tree, 'grep', { pattern: 'nothing' }), 'No matches.')
})

test('grep shows files by path, in whatever order they are found', async () => {
  await using tree = await makeTree({ b: '', 'a/c': '', a1: '' })
  const found = ['b', 'a1', 'a/c'].map((path) => ({ path, number: 1, text: 'x', matchAt: 0, lines: 1 }))
  const engine = { ...ripgrep, lines: () => from(found), matchingFiles: () => from(found) }
  const options = { engine: async () => engine }
  assert.equal(await say(tree, 'grep', { pattern: 'x' }, options), 'a/c\n1:x\n\na1\n1:x\n\nb\n1:x')
  assert.equal(await say(tree, 'grep', { pattern: 'x', mode: 'files' }, options), 'a/c\na1\nb')
})

test('grep marks the lines around a match, and gaps between them', async () => {
  await using tree = await makeTree({ a: '1\nx\n3\n4\n5\nx\n' })
  assert.equal(await say(tree, 'grep', { pattern: 'x', context: 1 }), 'a\n1-1\n2:x\n3-3\n--\n5-5\n6:x')
})

test('grep returns names or counts instead', async () => {
  await using tree = await makeTree({ b: 'x\nx\n', 'a/a': 'X\n' })
  assert.equal(await say(tree, 'grep', { pattern: 'x', ignoreCase: true, mode: 'files' }), 'a/a\nb')
  assert.equal(await say(tree, 'grep', { pattern: 'x', mode: 'count' }), 'b: 2')
})

test('grep accepts a glob of names, of paths, and one that excludes', async () => {
  await using tree = await makeTree({ 'a.ts': 'x', 'a.test.ts': 'x', 'src/b.ts': 'x', 'src/c.js': 'x' })
  const files = (glob: string) => say(tree, 'grep', { pattern: 'x', mode: 'files', glob })
  assert.equal(await files('*.ts'), 'a.test.ts\na.ts\nsrc/b.ts')
  assert.equal(await files('src/*.{ts,js}'), 'src/b.ts\nsrc/c.js')
  assert.equal(await files('src/'), 'src/b.ts\nsrc/c.js')
  assert.equal(await files('!*.test.ts'), 'a.ts\nsrc/b.ts\nsrc/c.js')
  assert.equal(await files('./a.?s'), 'a.ts')
})

test('grep searches one file, and one outside the working directory by its full path', async () => {
  await using tree = await makeTree({ 'in/a.ts': 'x\n', 'out/b.ts': 'x\n' })
  const place = { ...tree, root: tree.path('in') }
  assert.equal(await say(place, 'grep', { pattern: 'x', path: 'a.ts', glob: '*.js' }), 'a.ts\n1:x')
  assert.equal(await say(place, 'grep', { pattern: 'x', path: '../out' }), `${tree.path('out/b.ts')}\n1:x`)
})

test('grep shows 200 lines, a long one around its match, and says how many more match', async () => {
  await using tree = await makeTree({
    a: 'x\n'.repeat(150),
    b: 'x\n'.repeat(150),
    c: `${'-'.repeat(5000)}y${'-'.repeat(5000)}`,
  })
  const lines = (await say(tree, 'grep', { pattern: 'x' })).split('\n')
  assert.equal(lines.filter((line) => line.endsWith(':x')).length, 200)
  assert.equal(lines.at(-1), '[100 more lines match, in 1 file]')
  assert.equal(await say(tree, 'grep', { pattern: 'y' }), `c\n1:…${'-'.repeat(100)}y${'-'.repeat(199)}…`)
})

test('grep stops after 5000 lines and says so', async () => {
  await using tree = await makeTree({ a: 'x\n'.repeat(6000) })
  const output = await say(tree, 'grep', { pattern: 'x' })
  assert.match(
    output,
    /\[4800 more lines match, in 1 file\]\n\n\[The search stopped after 5000 results; narrow it\.\]$/,
  )
})

test('names with line breaks or control characters are quoted', async () => {
  await using tree = await makeTree({ 'a\n\x1b[31m': 'x' })
  assert.equal(await say(tree, 'glob', { pattern: '*' }), '"a\\n\\u001b[31m"')
  assert.equal(await say(tree, 'grep', { pattern: 'x' }), '"a\\n\\u001b[31m"\n1:x')
})

test('protected files are neither listed nor searched, by any path or other name', async () => {
  await using tree = await makeTree({
    'home/config.toml': 'key',
    'home/agents/a.toml': 'key',
    'home/Crab.md': 'key',
  })
  await link(tree.path('home/agents/a.toml'), tree.path('other.toml'))
  await symlink(tree.path('home/agents'), tree.path('agents'))
  const closed = ['home/config.toml', 'home/agents', 'home/vault'].map((name) => tree.path(name))
  const options = { closed }
  assert.equal(await say(tree, 'glob', { pattern: '**' }, options), 'home/Crab.md')
  assert.equal(await say(tree, 'grep', { pattern: 'key', mode: 'files' }, options), 'home/Crab.md')
  assert.equal(
    await say({ ...tree, root: tree.path('home') }, 'grep', { pattern: 'key', mode: 'files' }, options),
    'Crab.md',
  )
  for (const path of ['home/config.toml', 'home/agents', 'agents', 'home/agents/a.toml']) {
    const refusal = `!Cannot search ${path}: crabtalk keeps its own files there`
    assert.equal(await say(tree, 'grep', { pattern: 'key', path }, options), refusal)
  }
})

test("the kernel's files about this process are not searched", async () => {
  await using tree = await makeTree({})
  const [thread] = await readdir('/proc/self/task').then((threads) =>
    threads.filter((id) => +id !== process.pid),
  )
  const paths = ['/proc/self', '/proc/self/environ', `/proc/${process.pid}/task`, `/proc/${thread}/environ`]
  for (const path of paths) {
    const refusal = `!Cannot search ${path}: crabtalk keeps its own files there`
    assert.equal(await say(tree, 'grep', { pattern: 'PATH', path }), refusal)
  }
})

test('paths that a rule hides from the model are not shown', async () => {
  await using tree = await makeTree({ '.env': 'key\n', 'src/a.ts': 'key\n' })
  const mayShow = (path: string) => path !== tree.path('.env')
  for (const [name, args] of [
    ['glob', { pattern: '*' }],
    ['grep', { pattern: 'key', mode: 'files' }],
  ] as const) {
    assert.equal((await runTool(makeHook(), [name, args], { cwd: tree.root, mayShow })).output, 'src/a.ts')
  }
})

test('a search that takes too long answers with what it has', async () => {
  await using tree = await makeTree({ 'a.ts': '' })
  const engine = { ...ripgrep, files: (_: unknown, signal: AbortSignal) => oneThenNothing('a.ts', signal) }
  const output = await say(tree, 'glob', { pattern: '*' }, { engine: async () => engine, timeLimitMs: 10 })
  assert.equal(output, 'a.ts\n[The search stopped after 0.01 s; narrow it.]')
})

test('an abort fails, whatever the engine throws', async () => {
  await using tree = await makeTree({ 'a.ts': '' })
  const stop = new AbortController()
  const engine: SearchEngine = { ...ripgrep, files: (_, signal) => oneThenNothing('a.ts', signal) }
  const running = runTool(
    makeHook({ engine: async () => engine }),
    ['glob', { pattern: '*' }],
    { cwd: tree.root },
    stop.signal,
  )
  stop.abort()
  await assert.rejects(running, { name: 'AbortError' })
})

test('an abort ends the wait for an engine', async () => {
  await using tree = await makeTree({ 'a.ts': '' })
  const stop = new AbortController()
  const hook = makeHook({ engine: () => new Promise(() => stop.abort()) })
  for (const [name, args] of [
    ['glob', { pattern: '*' }],
    ['grep', { pattern: 'x' }],
  ] as const) {
    const { output } = await runTool(hook, [name, args], { cwd: tree.root }, stop.signal)
    assert.equal(output, 'Cancelled')
  }
})

test('a missing path, and one that is neither file nor folder, is rejected', async () => {
  await using tree = await makeTree({ 'a.ts': '' })
  assert.equal(await say(tree, 'glob', { pattern: '*', path: 'b' }), '!Cannot search b: it does not exist')
  const device = await say(tree, 'grep', { pattern: 'x', path: '/dev/null' })
  assert.equal(device, '!Cannot search /dev/null: it is neither a file nor a folder')
})

test('describe() resolves links and ~, and uses the working directory without a path', async () => {
  await using tree = await makeTree({ 'real/a': '', link: '-> real' })
  const describe = (args: object) =>
    describeTool(makeHook({ homeDir: tree.path('real') }), 'grep', args, tree.root)
  assert.deepEqual(await describe({ pattern: 'x' }), { kind: 'read', path: tree.root, shown: '.' })
  assert.deepEqual(await describe({ pattern: 'x', path: 'link/a' }), {
    kind: 'read',
    path: tree.path('real/a'),
    shown: 'link/a',
  })
  assert.deepEqual(await describe({ pattern: 'x', path: '~/a' }), {
    kind: 'read',
    path: tree.path('real/a'),
    shown: '~/a',
  })
})

test('calls of other tools are not handled', () => {
  assert.equal(makeHook().describe?.('read', {} as never), undefined)
  assert.equal(makeHook().dispatch?.('read', {} as never, new AbortController().signal), undefined)
})

function makeHook(options: Partial<SearchHookOptions> = {}) {
  return searchHook({ engine: async () => ripgrep, closed: [], homeDir: '', ...options })
}

/** Returns the answer of a tool; a failure begins with `!`. */
async function say(
  tree: Pick<Tree, 'root'>,
  name: string,
  args: object,
  options: Partial<SearchHookOptions> = {},
) {
  const place: ToolPlace = { cwd: tree.root }
  const { output, isError } = await runTool(makeHook(options), [name, args], place)
  return isError ? `!${output}` : output
}

async function* from<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items
}

async function* oneThenNothing(path: string, signal: AbortSignal): AsyncGenerator<string> {
  yield path
  signal.throwIfAborted()
  await new Promise((_, reject) =>
    signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
  )
}
