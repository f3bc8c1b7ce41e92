import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdir, mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { envFileProblems, parseVariables } from '../../../src/core/config/env-file-text.ts'
import type { ServiceSpec } from '../../../src/up/types.ts'
import { systemdUnit, unitName } from '../../../src/up/units/systemd-unit.ts'
import { propertyRuns } from '../../support/property-runs.ts'
import { canRunSystemd, type SystemdUser, startSystemdUser } from '../../support/systemd-user.ts'
import { daemonSpec, ODD_ARGUMENTS, ODD_BASE, ODD_HOME } from './specs.ts'
import { anyFileName, anyText } from './texts.ts'

// Tests a unit with systemd itself: its verifier, if it is installed, and a manager that runs it, if one starts.

const HAS_VERIFIER = spawnSync('systemd-analyze', ['--version']).status === 0
/** Returns a program that prints its arguments, one after the other. */
const PROGRAM = `#!/bin/sh
printf '%s\\0' "$0" "$@" "cwd:$(pwd)" "home:$CRABTALK_HOME" "path:$PATH" "key:$API_KEY"
`

if (HAS_VERIFIER) {
  for (const kind of ['usual', 'odd']) {
    test(`systemd-analyze verify accepts the ${kind} golden unit`, async () => {
      await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-verify-'))
      const file = `../../golden-units/${kind}/ai.crabtalk.daemon.service`
      const golden = await readFile(join(import.meta.dirname, file), 'utf8')
      const home = (kind === 'odd' ? ODD_HOME : '/home/anna/.crabtalk').replace(ODD_BASE, folder.path)
      await makeProgram(`${home}/bin/crabtalk`)
      const { output, status } = verify(folder.path, golden.replaceAll(ODD_BASE, folder.path))
      assert.deepEqual({ output, status }, { output: '', status: 0 })
    })
  }

  test('systemd-analyze verify reports an unknown directive', async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-verify-'))
    const unit = systemdUnit({ ...daemonSpec('/tmp'), argv: ['/bin/sh'] })
    const { output } = verify(folder.path, unit.replace('RestartSec=', 'RestartSecs='))
    assert.match(output, /Unknown key.*'RestartSecs'/)
  })
}

if (canRunSystemd()) {
  let user: SystemdUser
  before(async () => {
    user = await startSystemdUser()
  })
  after(() => user[Symbol.asyncDispose]())

  test('systemdUnit() runs the program with the arguments, directory, variables and secrets of the spec', async () => {
    await runAsSpecified(user, [daemonSpec(join(user.folder, ODD_HOME), ...ODD_ARGUMENTS)])
  })

  test('systemdUnit() does so for any directory and any arguments', async () => {
    let count = 0
    const spec = fc.tuple(anyFileName, fc.array(anyText, { maxLength: 4 }))
    await fc.assert(
      fc.asyncProperty(fc.array(spec, { minLength: 1, maxLength: 12 }), async (drawn) => {
        const specs = drawn.map(([folder, words]) => {
          const label = `ai.crabtalk.drawn-${count++}`
          return { ...daemonSpec(join(user.folder, label, folder), ...words), label }
        })
        await runAsSpecified(user, specs)
      }),
      { numRuns: propertyRuns(30, 3) },
    )
  })

  test('envFileProblems() accepts only what systemd and this program read alike', async () => {
    const value = fc.string({ unit: fc.constantFrom(...'aB1 \'"\\#$%;=`!&|*?~{}é'), maxLength: 9 })
    const drawn = fc.sample(value, 400).map((text, index) => `V${index}=${text}`)
    const lines = drawn.filter((line) => envFileProblems(line, 'service.env').length === 0)
    assert.ok(lines.length > 50)
    const spec = { ...daemonSpec(join(user.folder, 'alike')), label: 'ai.crabtalk.alike' }
    await mkdir(spec.cwd, { recursive: true })
    await mkdir(dirname(spec.output), { recursive: true })
    await mkdir(user.unitFolder, { recursive: true })
    await writeFile(spec.envFile, `${lines.join('\n')}\n`)
    const unit = systemdUnit({ ...spec, argv: ['/usr/bin/env', '-0'] })
    await writeFile(join(user.unitFolder, unitName(spec.label)), unit)
    control(user.env, 'daemon-reload')
    control(user.env, 'start', '--wait', unitName(spec.label))
    const values = (await readFile(spec.output, 'utf8')).split('\0').filter((pair) => /^V\d+=/.test(pair))
    const known = Object.entries(parseVariables(lines.join('\n'))).map(([name, text]) => `${name}=${text}`)
    assert.deepEqual(values.toSorted(), known.toSorted())
  })
}

/**
 * Writes units and their files, runs them to their ends, and compares what the programs saw with the specs.
 */
async function runAsSpecified(
  { env, unitFolder }: SystemdUser,
  specs: readonly ServiceSpec[],
): Promise<void> {
  await mkdir(unitFolder, { recursive: true })
  for (const spec of specs) {
    await makeProgram(spec.argv[0])
    await mkdir(dirname(spec.output), { recursive: true })
    await writeFile(spec.envFile, "API_KEY='secret $X %h'\n")
    await writeFile(join(unitFolder, unitName(spec.label)), systemdUnit(spec))
  }
  control(env, 'daemon-reload')
  control(env, 'start', '--wait', ...specs.map(({ label }) => unitName(label)))
  for (const spec of specs) assert.deepEqual((await readFile(spec.output, 'utf8')).split('\0'), toSeen(spec))
}

function toSeen({ argv, cwd, env }: ServiceSpec): string[] {
  const { CRABTALK_HOME: home, PATH: path } = env
  return [...argv, `cwd:${cwd}`, `home:${home}`, `path:${path}`, 'key:secret $X %h', '']
}

async function makeProgram(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, PROGRAM, { mode: 0o755 })
}

function control(env: SystemdUser['env'], ...words: string[]): void {
  const { status, stderr } = spawnSync('systemctl', ['--user', ...words], { env, encoding: 'utf8' })
  assert.equal(status, 0, stderr)
}

function verify(folder: string, unit: string): { output: string; status: number | null } {
  const path = join(folder, 'ai.crabtalk.daemon.service')
  spawnSync('tee', [path], { input: unit })
  const env = { PATH: process.env['PATH'], HOME: folder, XDG_RUNTIME_DIR: folder }
  const { stdout, stderr, status } = spawnSync('systemd-analyze', ['--user', 'verify', path], {
    env,
    encoding: 'utf8',
  })
  return { output: stdout + stderr, status }
}
