import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { after, describe, test } from 'node:test'
import { installedRipgrep } from '../../../../bin/ripgrep.ts'
import { toCrabError } from '../../../../src/core/base/errors.ts'
import type { FileSearchScope, SearchEngine } from '../../../../src/core/hooks/search/engine.ts'
import { javascriptEngine } from '../../../../src/core/hooks/search/javascript.ts'
import { ripgrepEngine } from '../../../../src/core/hooks/search/ripgrep.ts'
import { toPathFilter } from '../../../../src/core/hooks/search/target.ts'
import { openProcessHost } from '../../../../src/core/process/process-host.ts'
import { livingWith } from '../../../support/orphans.ts'
import { makeTree, type Tree } from '../../../support/trees.ts'
import { until } from '../../../support/until.ts'

const NEVER = new AbortController().signal
const mark = randomUUID()
const processes = openProcessHost({ pid: process.pid })
after(() => processes[Symbol.asyncDispose]())
const program = installedRipgrep(import.meta.filename)!

const ENGINES: Readonly<Record<string, SearchEngine>> = {
  ripgrepEngine: ripgrepEngine({ processes, program, env: { CRAB_TEST: mark } }),
  javascriptEngine: javascriptEngine(),
}

for (const [name, engine] of Object.entries(ENGINES)) {
  describe(`${name}()`, () => {
    const filesIn = async (tree: Tree, more: Partial<FileSearchScope> = {}) =>
      (await Array.fromAsync(engine.files(makeScope(tree, more), NEVER))).toSorted()
    const linesIn = async (
      tree: Tree,
      pattern: string,
      more: Partial<Parameters<typeof engine.lines>[0]> = {},
    ) => {
      const query = { pattern, ignoreCase: false, context: 0, limit: 100, ...more }
      const lines = await Array.fromAsync(engine.lines(query, makeScope(tree), NEVER))
      return lines
        .map(({ path, number, text, matchAt }) => `${path}:${number}:${matchAt ?? '-'}:${text}`)
        .toSorted()
    }

    test('files() returns hidden files and odd names, but no links and nothing below .git', async () => {
      await using tree = await makeTree({
        '.hidden/x': '',
        'a/-rf': '',
        'a/new\nline': '',
        'a/ö [1]{2} *': '',
        '.git/config': '',
        'sub/.git': 'gitdir: elsewhere',
        'fifo-like/empty/': '',
        link: '-> a/-rf',
        folderlink: '-> a',
        dangling: '-> nowhere',
      })
      assert.deepEqual(await filesIn(tree), ['.hidden/x', 'a/-rf', 'a/new\nline', 'a/ö [1]{2} *'])
    })

    test('files() omits what git ignores in a repository, also by rules above the root', async () => {
      await using tree = await makeTree({
        '.git/': '',
        '.git/info/exclude': 'private\n',
        '.gitignore': 'node_modules/\n*.log\n/only-here\n!keep.log\n',
        'node_modules/x.js': '',
        'keep.log': '',
        'only-here': '',
        private: '',
        'sub/.gitignore': '*.tmp\n!*.log\n',
        'sub/a.tmp': '',
        'sub/a.log': '',
        'sub/only-here': '',
        'sub/deep/private': '',
        'sub/deep/a.ts': '',
        'other/b.log': '',
      })
      assert.deepEqual(await filesIn(tree), [
        '.gitignore',
        'keep.log',
        'sub/.gitignore',
        'sub/a.log',
        'sub/deep/a.ts',
        'sub/only-here',
      ])
      assert.deepEqual(await filesIn(tree, { root: tree.path('other') }), [])
      assert.deepEqual(await filesIn(tree, { root: tree.path('sub') }), [
        '.gitignore',
        'a.log',
        'deep/a.ts',
        'only-here',
      ])
    })

    test('files() is case-sensitive', async () => {
      await using tree = await makeTree({ '.git/': '', '.gitignore': '*.LOG\n', 'a.log': '', 'b.LOG': '' })
      assert.deepEqual(await filesIn(tree), ['.gitignore', 'a.log'])
    })

    test('files() treats a .gitignore outside a repository as an ordinary file', async () => {
      await using tree = await makeTree({ '.gitignore': '*\n', a: '' })
      assert.deepEqual(await filesIn(tree), ['.gitignore', 'a'])
    })

    test('files() follows .ignore and .rgignore anywhere, which override .gitignore', async () => {
      await using tree = await makeTree({
        '.git/': '',
        '.gitignore': '*.a\n',
        '.ignore': '!*.a\n*.b\n',
        '.rgignore': '!x.b\n',
        'x.a': '',
        'x.b': '',
        'y.b': '',
      })
      assert.deepEqual(await filesIn(tree), ['.gitignore', '.ignore', '.rgignore', 'x.a', 'x.b'])
    })

    test('files() does not apply git rules of a repository to a nested one', async () => {
      await using tree = await makeTree({
        '.git/': '',
        '.gitignore': '*.log\n',
        'in/.git/': '',
        'in/a.log': '',
      })
      assert.deepEqual(await filesIn(tree), ['.gitignore', 'in/a.log'])
    })

    test('files() returns an ignored folder that is requested', async () => {
      await using tree = await makeTree({ '.git/': '', '.gitignore': 'dist\n', 'dist/deep/a.js': '' })
      assert.deepEqual(await filesIn(tree, { root: tree.path('dist') }), ['deep/a.js'])
    })

    test('files() never enters protected folders, whatever their name', async () => {
      await using tree = await makeTree({
        'a/config.toml': '',
        'b/config.toml': '',
        key: '',
        'b/key': '',
        'o[d]d {x}/!y z/k': '',
        'o[d]d {x}/l': '',
      })
      const closed = [
        tree.path('a/config.toml'),
        tree.path('key'),
        tree.path('o[d]d {x}/!y z'),
        tree.path('not/there'),
      ]
      assert.deepEqual(await filesIn(tree, { closed }), ['b/config.toml', 'b/key', 'o[d]d {x}/l'])
    })

    test('files() returns at least what a glob matches, and still nothing that git ignores', async () => {
      await using tree = await makeTree({
        '.git/': '',
        '.gitignore': 'dist/\nsecret.ts\n',
        'secret.ts': '',
        'dist/a.ts': '',
        'src/a.ts': '',
        'src/b.tsx': '',
        'src/c.js': '',
      })
      for (const glob of ['*.ts', '**/*.{ts,tsx}', 'src/**', '**']) {
        const filter = toPathFilter(glob, tree.root)
        const found = await filesIn(tree, { glob: filter })
        const expected = ['src/a.ts', 'src/b.tsx', 'src/c.js'].filter((path) => filter.matches(path))
        assert.deepEqual(
          found.filter(filter.matches).filter((path) => path !== '.gitignore'),
          expected,
          glob,
        )
      }
    })

    test('a root that is a file is searched even if git ignores it', async () => {
      await using tree = await makeTree({
        '.git/': '',
        '.gitignore': '*\n',
        'a/x [1].log': 'needle\n',
        'a/x 1.log': 'needle\n',
      })
      const scope = makeScope(tree, { root: tree.path('a/x [1].log'), isFile: true })
      assert.deepEqual(await Array.fromAsync(engine.files(scope, NEVER)), ['x [1].log'])
      const query = { pattern: 'needle', ignoreCase: false, counted: true }
      assert.deepEqual(await Array.fromAsync(engine.matchingFiles(query, scope, NEVER)), [
        { path: 'x [1].log', lines: 1 },
      ])
    })

    test('lines() counts lines and UTF-16 units, in files with any line ends', async () => {
      await using tree = await makeTree({
        unix: 'one\ntwo needle\n\nneedle',
        windows: 'one\r\nneedle\r\n',
        wide: '🦀🦀 needle\n',
        'new\nline': 'needle\n',
        latin: Buffer.from('caf\xe9 needle\n', 'latin1'),
        utf16: Buffer.from('\ufeffa\nneedle\n', 'utf16le'),
        empty: '',
      })
      assert.deepEqual(await linesIn(tree, 'needle'), [
        'latin:1:5:caf\ufffd needle',
        'new\nline:1:0:needle',
        'unix:2:4:two needle',
        'unix:4:0:needle',
        'utf16:2:0:needle',
        'wide:1:5:🦀🦀 needle',
        'windows:2:0:needle',
      ])
    })

    test('lines() skips binary files, even a requested one', async () => {
      await using tree = await makeTree({ 'a.bin': 'needle\n\0\n', 'b.txt': 'needle\n' })
      assert.deepEqual(await linesIn(tree, 'needle'), ['b.txt:1:0:needle'])
      const query = { pattern: 'needle', ignoreCase: false, counted: true }
      const scope = makeScope(tree, { root: tree.path('a.bin'), isFile: true })
      assert.deepEqual(await Array.fromAsync(engine.matchingFiles(query, scope, NEVER)), [])
    })

    test('lines() returns the lines around a match once', async () => {
      await using tree = await makeTree({ a: '1\n2\nx\n4\nx\n6\n7\n8\nx\n' })
      const expected = ['a:2:-:2', 'a:3:0:x', 'a:4:-:4', 'a:5:0:x', 'a:6:-:6', 'a:8:-:8', 'a:9:0:x']
      assert.deepEqual(await linesIn(tree, 'x', { context: 1 }), expected)
    })

    test('lines() returns no more than the requested number of matches per file', async () => {
      await using tree = await makeTree({ a: 'x\n'.repeat(9), b: 'x\n'.repeat(9) })
      assert.equal((await linesIn(tree, 'x', { limit: 2 })).length, 4)
    })

    test('lines() supports the common syntax of both regular expression dialects', async () => {
      await using tree = await makeTree({ a: 'Foo(bar)\n\tlet x = "é"\nfoobar\r\n' })
      const found = async (pattern: string, ignoreCase = false) =>
        (await linesIn(tree, pattern, { ignoreCase })).map((line) => Number(line.split(':')[1]))
      assert.deepEqual(await found('foo'), [3])
      assert.deepEqual(await found('foo', true), [1, 3])
      assert.deepEqual(await found('(?i)FOO'), [1, 3])
      assert.deepEqual(await found('bar$'), [3])
      assert.deepEqual(await found('^\\s+let\\b'), [2])
      assert.deepEqual(await found('foo(?=bar)'), [3])
      assert.deepEqual(await found('\\(bar\\)'), [1])
      assert.deepEqual(await found('[[:upper:]]oo'), [1])
      assert.deepEqual(await found('\\p{L}"'), [2])
      assert.deepEqual(await found('\\"é\\"'), [2])
      assert.deepEqual(await found('-x|--|r\\)'), [1])
    })

    test('lines() and matchingFiles() throw `invalid` for an invalid regular expression', async () => {
      await using tree = await makeTree({ a: 'x\n' })
      for (const pattern of ['(', '[', '*x', 'a{2,1}']) {
        const query = { pattern, ignoreCase: false, context: 0, limit: 1, counted: false }
        const refused = {
          kind: 'invalid',
          message: /^Cannot search: the pattern is not a valid regular expression: ./,
        }
        await assert.rejects(Array.fromAsync(engine.lines(query, makeScope(tree), NEVER)), refused)
        await assert.rejects(Array.fromAsync(engine.matchingFiles(query, makeScope(tree), NEVER)), refused)
      }
    })

    test('matchingFiles() counts lines, or stops at the first', async () => {
      await using tree = await makeTree({ 'a\n1\n2': 'x x\nx\n', b: 'x', c: 'y', 'd/e': '\nx\nx\nx\n' })
      const found = async (counted: boolean) => {
        const files = engine.matchingFiles(
          { pattern: 'x', ignoreCase: false, counted },
          makeScope(tree),
          NEVER,
        )
        return (await Array.fromAsync(files)).map(({ path, lines }) => [path, lines]).toSorted()
      }
      assert.deepEqual(await found(true), [
        ['a\n1\n2', 2],
        ['b', 1],
        ['d/e', 3],
      ])
      assert.deepEqual(await found(false), [
        ['a\n1\n2', 1],
        ['b', 1],
        ['d/e', 1],
      ])
    })

    test('an aborted search fails, and leaves no process', async () => {
      await using tree = await makeTree({})
      for (const name of ['a', 'b', 'c']) await writeFile(tree.path(name), 'x\n'.repeat(200_000))
      const stop = new AbortController()
      const query = { pattern: 'x', ignoreCase: false, context: 0, limit: 1_000_000 }
      const searching = async () => {
        for await (const { number } of engine.lines(query, makeScope(tree), stop.signal))
          if (number > 10) stop.abort()
      }
      await assert.rejects(searching(), isCancelled)
      await assert.rejects(Array.fromAsync(engine.files(makeScope(tree), stop.signal)))
      await until('the search has ended', async () => (await livingWith(mark)).length === 0)
    })

    test('leaving a search ends it', async () => {
      await using tree = await makeTree({})
      for (const name of ['a', 'b', 'c']) await writeFile(tree.path(name), 'x\n'.repeat(200_000))
      const query = { pattern: 'x', ignoreCase: false, context: 0, limit: 1_000_000 }
      for await (const _ of engine.lines(query, makeScope(tree), NEVER)) break
      assert.deepEqual(await livingWith(mark), [])
    })

    test('a missing folder is empty', async () => {
      await using tree = await makeTree({})
      await mkdir(tree.path('empty'))
      assert.deepEqual(await filesIn(tree, { root: tree.path('empty') }), [])
    })
  })
}

test("ripgrepEngine() ignores the user's settings for ripgrep and git", async () => {
  await using tree = await makeTree({
    'work/.git/': '',
    'work/a.ts': '',
    'settings/git/ignore': '*.ts\n',
    'settings/rg': '--glob=!*.ts\n',
  })
  const env = { XDG_CONFIG_HOME: tree.path('settings'), RIPGREP_CONFIG_PATH: tree.path('settings/rg') }
  const engine = ripgrepEngine({ processes, program, env })
  const found = engine.files(makeScope(tree, { root: tree.path('work') }), NEVER)
  assert.deepEqual(await Array.fromAsync(found), ['a.ts'])
})

function isCancelled(reason: unknown): boolean {
  return toCrabError(reason).kind === 'cancelled'
}

function makeScope(tree: Tree, more: Partial<FileSearchScope> = {}): FileSearchScope {
  const root = more.root ?? tree.root
  const folder = more.isFile ? dirname(root) : root
  return { root, folder, isFile: false, closed: [], glob: undefined, ...more }
}
