import assert from 'node:assert/strict'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { test } from 'node:test'
import { findProblems } from '../../src/core/config/find-problems.ts'
import { readManifest } from '../../src/up/pkg/manifest.ts'
import { type EverydayPlace, makeEverydayPlace } from '../docs/everyday-place.ts'
import { type Block, matches, readBlocks, type Step, stepsOf, strayTexts } from '../docs/page.ts'
import { startSandboxDaemon, WITH_DAEMON } from '../support/sandbox-daemon.ts'
import { temporaryHome } from '../support/temporary-home.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const names = (await readdir(join(ROOT, 'docs'))).filter((name) => name.endsWith('.md'))
/** Pages about what goes on in a daemon. */
const NEED_DAEMON: ReadonlySet<string> = new Set(['daemon.md', 'events.md', 'conversations.md', 'mcp.md'])
const pages = ['README.md', ...names.map((name) => join('docs', name))]

/** package.black.ts runs what is in them. */
const PROGRAMS: ReadonlySet<string> = new Set(['README.md', 'docs/programs.md', 'docs/components.md'])

for (const page of pages) {
  const blocks = await readBlocks(join(ROOT, page))

  test(`${page} has no block that nobody tries`, () => {
    const tried = ['sh', 'text', 'toml', 'json', ...(PROGRAMS.has(page) ? ['js'] : [])]
    const others = blocks.filter(({ language }) => !tried.includes(language))
    assert.deepEqual(
      [...others, ...strayTexts(blocks)].map(({ line }) => `${page}:${line}`),
      [],
    )
  })

  test(`${page} says commands that work, and what they print`, async (t) => {
    const steps = stepsOf(blocks)
    if (steps.length === 0) return
    await using place = await makeEverydayPlace()
    await using daemon = NEED_DAEMON.has(basename(page)) ? await startSandboxDaemon(place) : undefined
    const env = daemon ? WITH_DAEMON : {}
    for (const step of steps) await t.test(`${page}:${step.block.line}`, () => runStep(place, step, env))
  })

  for (const block of blocks.filter(({ language }) => language === 'toml')) {
    test(`${page}:${block.line} is a file that crabtalk takes`, () => checkToml(block))
  }

  for (const block of blocks.filter(({ language }) => language === 'json')) {
    test(`${page}:${block.line} is JSON`, () => assert.doesNotThrow(() => JSON.parse(block.text)))
  }
}

/** A block is run by a shell of its own; it fails when one of its commands does. */
async function runStep(
  place: EverydayPlace,
  { block, expected }: Step,
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const { stdout, stderr, code } = await place.shell(`set -e\nexec 2>&1\n${block.text}`, { env })
  assert.deepEqual([code, stderr], [0, ''], stdout)
  if (expected && !matches(expected.text, stdout)) assert.equal(stdout, expected.text)
}

/** The first line of a block says which file it is: `# config.toml`, or `# agents/NAME.toml`. */
async function checkToml({ text }: Block): Promise<void> {
  const [, name = ''] = /^# (?:~\/\.crabtalk\/)?((?:agents\/)?[\w-]+\.toml)\b/.exec(text) ?? []
  assert.notEqual(name, '', 'the block names no file')
  if (name === 'crabtalk.toml') return void readManifest(text)
  await using home = await temporaryHome()
  await mkdir(join(home.paths.home, 'agents'), { recursive: true })
  await writeFile(join(home.paths.home, name), text)
  assert.deepEqual(await findProblems(home.paths), [], basename(name))
}
