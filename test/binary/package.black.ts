import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { readBlocks } from '../docs/page.ts'
import { HTTP_CLIENTS } from '../support/component/http-clients.ts'
import { startProgram } from '../support/component/programs.ts'
import { makeTalk, type Talk } from '../support/talk.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const run = promisify(execFile)

const OPTIONS = [{ label: 'a' }, { label: 'b' }]
const ASK = {
  call: 'c',
  name: 'ask_user',
  args: JSON.stringify({ questions: [{ question: 'Which?', header: 'Q', options: OPTIONS }] }),
}

test('the installed npm package runs its examples, and its types check', async () => {
  await using talk = await makeTalk(({ text }) => ({
    parts: text.includes('Ask me') && !text.includes('"role":"tool"') ? [ASK] : ['Anything', ' at all.'],
  }))
  await installPackage(talk)
  await using stack = new AsyncDisposableStack()
  const daemon = talk.start(['daemon', 'run'], { env: { CRABTALK_NO_DAEMON: undefined } })
  stack.defer(async () => {
    daemon.child.kill('SIGTERM')
    assert.equal((await daemon.finished).code, 0)
  })
  await untilListens(talk)
  const [client, runtime, ...others] = await examplesOf('README.md')
  assert.equal(await runExample(talk, client!), 'Anything at all.\nAnything at all.\n')
  assert.equal(await runExample(talk, runtime!), 'You said: hello\n')
  const [programs, watching, ...more] = await examplesOf('docs/programs.md')
  const [component, ...still] = await examplesOf('docs/components.md')
  assert.deepEqual([...others, ...more, ...still], [], 'every example is run')
  assert.match(
    await runExample(talk, programs!),
    /stop true true\n[\da-f]{16}-\w{26} \[\n[\s\S]*'Anything at all\.'\n\]\n$/,
  )
  assert.equal(await runExample(talk, watching!), 'crab my-monitor\n')
  await tryComponent(talk, component!)
  await checkTypes(talk)
})

/** Runs a component, which serves its tools until it is stopped. */
async function tryComponent({ cwd, home }: Talk, text: string): Promise<void> {
  const path = join(cwd, 'component.mjs')
  await writeFile(path, text)
  const paths = { home, run: join(home, 'run') }
  await using dice = startProgram(path, { paths, name: 'dice' })
  const url = new URL(`http://127.0.0.1:${await dice.port()}/mcp`)
  const key = (await readFile(join(paths.run, 'dice.key'), 'utf8')).trim()
  {
    await using host = await HTTP_CLIENTS['SDK 2.x, 2026-07-28']!({ url, key })
    assert.match(JSON.stringify((await host.call('roll', { sides: 2 }))['content']), /"text":"[12]"/)
  }
  dice.child.kill('SIGTERM')
  assert.deepEqual([await dice.ended, dice.said()], [0, ''])
}

/** Installs the output of `npm pack` the way `npm install` does. */
async function installPackage({ cwd }: Talk): Promise<void> {
  const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', cwd], { cwd: ROOT })
  const target = join(cwd, 'node_modules/crabtalk')
  await mkdir(target, { recursive: true })
  await run('tar', [
    '-xzf',
    join(cwd, stdout.trim().split('\n').at(-1)!),
    '--strip-components=1',
    '-C',
    target,
  ])
  await rm(join(target, 'src'), { recursive: true }) // the package must not depend on its sources
  await symlink(join(ROOT, 'node_modules/@bufbuild'), join(cwd, 'node_modules/@bufbuild')) // a dependency
}

async function untilListens({ run: crabtalk }: Talk): Promise<void> {
  const env = { CRABTALK_NO_DAEMON: undefined }
  for (let tries = 0; tries < 200; tries++) {
    if ((await crabtalk(['daemon', 'status'], { env })).code === 0) return
  }
  assert.fail('the daemon never listened')
}

async function examplesOf(page: string): Promise<string[]> {
  const blocks = await readBlocks(join(ROOT, page))
  return blocks.filter(({ language }) => language === 'js').map(({ text }) => text)
}

async function runExample({ cwd, env }: Talk, text: string): Promise<string> {
  const path = join(cwd, 'example.mjs')
  await writeFile(path, text)
  const { stdout, stderr } = await run(process.execPath, [path], { cwd, env })
  assert.equal(stderr, '')
  return stdout
}

/** A component in TypeScript with its own argument type. */
const COMPONENT = `import { type Component, CrabError, type ComponentTool, serveComponent } from 'crabtalk/component'

const roll: ComponentTool<{ sides?: number }> = {
  name: 'roll',
  description: 'Rolls a die.',
  async run({ sides = 6 }, { signal, progress }) {
    if (sides < 2) throw new CrabError('invalid', 'Cannot roll: that is no die')
    progress('rolling', 1, 2)
    return { content: [{ type: 'text', text: String(sides) }], isError: signal.aborted }
  },
}
const dice: Component = { name: 'dice', version: '1', description: 'Dice', tools: [roll] }
export const ended: Promise<void> = serveComponent(dice, { home: '/', graceMs: 1 }, AbortSignal.timeout(1))
`

/** Checks a TypeScript program that uses the declarations of the entries. */
async function checkTypes({ cwd }: Talk): Promise<void> {
  const examples = await Promise.all(['README.md', 'docs/programs.md'].map(examplesOf))
  const text = (examples[0]![0]! + examples[1]![0]!.replace(/^import.*\nconst agents.*$/gm, '')).replace(
    "import { connect } from 'crabtalk/client'\n\nconst agents = await connect() //",
    '//',
  )
  await writeFile(join(cwd, 'component.ts'), COMPONENT)
  await writeFile(join(cwd, 'example.ts'), text.replaceAll('result.end.error', 'result.end?.error'))
  const types = dirname(createRequire(import.meta.url).resolve('@types/node/package.json'))
  const compilerOptions = {
    module: 'nodenext',
    target: 'esnext',
    lib: ['esnext'],
    strict: true,
    noEmit: true,
    types: ['node'],
    typeRoots: [dirname(types)],
  }
  await writeFile(join(cwd, 'package.json'), '{"type":"module"}')
  await writeFile(
    join(cwd, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: ['example.ts', 'component.ts'] }),
  )
  const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc')
  const { stdout } = await run(process.execPath, [tsc, '-p', cwd]).catch(
    (reason: { stdout: string }) => reason,
  )
  assert.equal(stdout, '')
}
