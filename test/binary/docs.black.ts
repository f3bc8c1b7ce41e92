import assert from 'node:assert/strict'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { test } from 'node:test'
import { findProblems } from '../../src/core/config/find-problems.ts'
import { readTemplate } from '../../src/edge/catalog/template.ts'
import { parseTomlServers } from '../../src/edge/entries/parse-toml-servers.ts'
import { readManifest } from '../../src/up/pkg/manifest.ts'
import { type ExampleSandbox, makeExampleSandbox } from '../docs/example-sandbox.ts'
import { type Block, matches, readBlocks, type Step, strayTexts, toSteps } from '../docs/page.ts'
import { startSandboxDaemon, WITH_DAEMON } from '../support/sandbox-daemon.ts'
import { temporaryHome } from '../support/temporary-home.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const names = (await readdir(join(ROOT, 'docs'))).filter((name) => name.endsWith('.md'))
/** Pages that describe a running daemon. */
const DAEMON_PAGES: ReadonlySet<string> = new Set(['daemon.md', 'events.md', 'conversations.md', 'mcp.md'])
const pages = ['README.md', ...names.map((name) => join('docs', name))]

/** Pages with programs, which package.black.ts runs. */
const PROGRAM_PAGES: ReadonlySet<string> = new Set(['README.md', 'docs/programs.md', 'docs/components.md'])

for (const page of pages) {
  const blocks = await readBlocks(join(ROOT, page))

  test(`every block of ${page} is tested`, () => {
    const tried = ['sh', 'text', 'toml', 'json', ...(PROGRAM_PAGES.has(page) ? ['js'] : [])]
    const others = blocks.filter(({ language }) => !tried.includes(language))
    assert.deepEqual(
      [...others, ...strayTexts(blocks)].map(({ line }) => `${page}:${line}`),
      [],
    )
  })

  test(`the commands in ${page} work and print what the page shows`, async (t) => {
    const steps = toSteps(blocks)
    if (steps.length === 0) return
    await using sandbox = await makeExampleSandbox()
    await using daemon = DAEMON_PAGES.has(basename(page)) ? await startSandboxDaemon(sandbox) : undefined
    const env = daemon ? WITH_DAEMON : {}
    for (const step of steps) await t.test(`${page}:${step.block.line}`, () => runStep(sandbox, step, env))
  })

  for (const block of blocks.filter(({ language }) => language === 'toml')) {
    test(`${page}:${block.line} is a valid configuration file`, () => checkToml(block))
  }

  for (const block of blocks.filter(({ language }) => language === 'json')) {
    test(`${page}:${block.line} is JSON`, () => assert.doesNotThrow(() => JSON.parse(block.text)))
  }
}

/** Runs a block in its own shell; the block fails when one of its commands fails. */
async function runStep(
  sandbox: ExampleSandbox,
  { block, expected }: Step,
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const { stdout, stderr, code } = await sandbox.shell(`set -e\nexec 2>&1\n${block.text}`, { env })
  assert.deepEqual([code, stderr], [0, ''], stdout)
  if (expected && !matches(expected.text, stdout)) assert.equal(stdout, expected.text)
}

/** Checks the file that the first line of the block names: `# config.toml`, `# agents/NAME.toml`, or a mcp.toml. */
async function checkToml({ text }: Block): Promise<void> {
  const [, name = ''] =
    /^# (?:(?:~\/)?\.crabtalk\/)?((?:agents\/|mcp\/catalog\/)?[\w-]+\.toml)\b/.exec(text) ?? []
  assert.notEqual(name, '', 'the block names no file')
  if (name === 'crabtalk.toml') return void readManifest(text)
  if (name === 'mcp.toml') return checkServers(text)
  if (name.startsWith('mcp/')) return assert.ok(readTemplate(name, text).ok, name)
  await using home = await temporaryHome()
  await mkdir(join(home.paths.home, 'agents'), { recursive: true })
  await writeFile(join(home.paths.home, name), text)
  assert.deepEqual(await findProblems(home.paths), [], basename(name))
}

function checkServers(text: string): void {
  const { servers, problems } = parseTomlServers(text, 'mcp.toml', 'project')
  assert.deepEqual(problems, [])
  assert.deepEqual(
    servers.map(({ problem }) => problem).filter((problem) => problem !== ''),
    [],
  )
}
