import assert from 'node:assert/strict'
import { renameSync, symlinkSync } from 'node:fs'
import { readdir, readlink, rename, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { installedRipgrep } from '../../../../bin/ripgrep.ts'
import { FD_LINKS } from '../../../../src/core/hooks/folder.ts'
import type { SearchEngine } from '../../../../src/core/hooks/search/engine.ts'
import { javascriptEngine } from '../../../../src/core/hooks/search/javascript.ts'
import { ripgrepEngine } from '../../../../src/core/hooks/search/ripgrep.ts'
import { type SearchHookOptions, searchHook } from '../../../../src/core/hooks/search/search-hook.ts'
import { openProcessHost } from '../../../../src/core/process/process-host.ts'
import type { Hook } from '../../../../src/core/runtime/hook.ts'
import { runTool } from '../../../support/tool-run.ts'
import { makeTree, type Tree } from '../../../support/trees.ts'

const processes = openProcessHost({ pid: process.pid })
after(() => processes[Symbol.asyncDispose]())
const ENGINES: Readonly<Record<string, SearchEngine>> = {
  ripgrep: ripgrepEngine({ processes, program: installedRipgrep(import.meta.filename)!, env: {} }),
  JavaScript: javascriptEngine(),
}
const SYSTEMS = { Linux: FD_LINKS, 'other systems': '/nowhere' }
const CALLS: readonly (readonly [string, object])[] = [
  ['glob', { pattern: '*' }],
  ['grep', { pattern: 'key' }],
  ['grep', { pattern: 'key', mode: 'count' }],
]
const ELSEWHERE = ': its path points elsewhere than when it was permitted (try again)'

const SWAPS: Record<string, (tree: Tree) => Promise<void>> = {
  'it becomes a link': async (tree) => {
    await rename(tree.path('work/docs'), tree.path('kept'))
    await symlink(tree.path('secret/docs'), tree.path('work/docs'))
  },
  'a folder above becomes a link': async (tree) => {
    await rename(tree.path('work'), tree.path('kept'))
    await symlink('secret', tree.path('work'))
  },
}
for (const [name, engine] of Object.entries(ENGINES)) {
  for (const [system, fdLinks] of Object.entries(SYSTEMS)) {
    for (const [what, swap] of Object.entries(SWAPS)) {
      test(`${name} searches nothing else when ${what} after the permission, on ${system}`, async () => {
        for (const path of ['docs', 'docs/a']) {
          for (const [tool, args] of CALLS) {
            await using tree = await treeOfTwo()
            const tools = searchHook({ ...makeOptions(engine), fdLinks })
            const hook = dispatchAfter(() => swap(tree), tools)
            const { output } = await runTool(hook, [tool, { ...args, path }], { cwd: tree.path('work') })
            assert.equal(output, `Cannot search ${path}${ELSEWHERE}`)
          }
        }
      })
    }

    test(`${name} returns nothing from a replacement of the searched folder, on ${system}`, async () => {
      for (const [tool, args] of CALLS) {
        await using tree = await treeOfTwo()
        const outputs: string[] = []
        const swap = () => {
          renameSync(tree.path('work/docs'), tree.path('kept'))
          symlinkSync(tree.path('secret/docs'), tree.path('work/docs'))
        }
        const hook = searchHook({ ...makeOptions(engineAfter(swap, engine, outputs)), fdLinks })
        const call = [tool, { ...args, path: 'docs' }] as const
        const { output } = await runTool(hook, call, { cwd: tree.path('work') })
        assert.equal(output, `Cannot search docs${ELSEWHERE}`)
        if (system === 'Linux') assert.deepEqual([...new Set(outputs)].toSorted(), ['a', 'sub/b'])
      }
    })
  }
}

for (const [system, fdLinks] of Object.entries(SYSTEMS)) {
  test(`no files are listed behind a link that replaced a subfolder, on ${system}`, async () => {
    for (const [tool, args] of CALLS) {
      await using tree = await treeOfTwo()
      const swap = () => {
        renameSync(tree.path('work/docs/sub'), tree.path('kept'))
        symlinkSync(tree.path('secret/docs'), tree.path('work/docs/sub'))
        symlinkSync(tree.path('secret/docs/a'), tree.path('work/docs/c'))
      }
      const found = ['a', 'c', 'sub/secret'].map((path) => ({
        path,
        number: 1,
        text: 'key',
        matchAt: 0,
        lines: 1,
      }))
      const late: SearchEngine = {
        files: () =>
          afterwards(
            swap,
            found.map(({ path }) => path),
          ),
        lines: () => afterwards(swap, found),
        matchingFiles: () => afterwards(swap, found),
      }
      const hook = searchHook({ ...makeOptions(late), fdLinks })
      const call = [tool, { ...args, path: 'docs' }] as const
      const { output } = await runTool(hook, call, { cwd: tree.path('work') })
      assert.match(output, /^docs\/a(\n1:key|: 1)?$/)
    }
  })
}

test('a search releases the folder it held', async () => {
  await using tree = await treeOfTwo()
  const hook = searchHook(makeOptions(ENGINES['JavaScript']!))
  for (const path of ['work', 'work/docs/a', 'work/none'])
    for (const pattern of ['*', '{']) await runTool(hook, ['glob', { pattern, path }], { cwd: tree.root })
  const held = await Promise.all(
    (await readdir(FD_LINKS)).map((fd) => readlink(join(FD_LINKS, fd)).catch(() => '')),
  )
  assert.deepEqual(
    held.filter((path) => path.startsWith(tree.root)),
    [],
  )
})

/** Creates a permitted folder and a forbidden one. */
function treeOfTwo(): Promise<Tree> {
  return makeTree({
    'work/docs/a': 'key\n',
    'work/docs/sub/b': 'key\n',
    'secret/docs/a': 'key\n',
    'secret/docs/secret': 'key\n',
  })
}

function makeOptions(engine: SearchEngine): SearchHookOptions {
  return { engine: async () => engine, closed: [], homeDir: '' }
}

/** Returns a hook whose calls run after a change. */
function dispatchAfter(event: () => Promise<void>, hook: Hook): Hook {
  return {
    ...hook,
    dispatch: (name, call, signal) => event().then(async () => (await hook.dispatch?.(name, call, signal))!),
  }
}

/** Returns an engine that starts after a change, and records its files. */
function engineAfter(event: () => void, engine: SearchEngine, given: string[]): SearchEngine {
  async function* noted<T>(found: () => AsyncIterable<T>): AsyncGenerator<T> {
    event()
    for await (const item of found()) {
      given.push(typeof item === 'string' ? item : (item as { path: string }).path)
      yield item
    }
  }
  return {
    files: (...args) => noted(() => engine.files(...args)),
    lines: (...args) => noted(() => engine.lines(...args)),
    matchingFiles: (...args) => noted(() => engine.matchingFiles(...args)),
  }
}

async function* afterwards<T>(event: () => void, items: readonly T[]): AsyncGenerator<T> {
  event()
  yield* items
}
