import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { packages } from '../../../scripts/sea/packages.ts'
import { startModelServer } from '../../support/model-server.ts'
import { WIRES, wireEndpoint } from '../../support/wires.ts'

const run = promisify(execFile)
const PROGRAM = join(import.meta.dirname, '../../support/one-call-program.ts')

test('no wire reads the environment or loads Node’s own HTTP client, neither when it is loaded nor when it is called', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  await using server = await startModelServer(() => ({ parts: ['hi'] }))
  const outfile = join(folder.path, 'program.cjs')
  await build({
    entryPoints: [PROGRAM],
    ...{ outfile, bundle: true, platform: 'node', format: 'cjs', plugins: [packages], logLevel: 'error' },
    supported: { 'dynamic-import': false },
  })
  for (const wire of WIRES) {
    const { baseUrl, wire: spoken } = wireEndpoint(wire, server)
    const { stdout } = await run(process.execPath, [outfile, wire.kind, baseUrl, spoken], { env: {} })
    const { said, read, client } = JSON.parse(stdout)
    assert.deepEqual({ said, client }, { said: 'hi', client: false }, wire.kind)
    const own = read.filter((name: string) => /^(AI_|ANTHROPIC|AWS|AZURE|GEMINI|GOOGLE|OPENAI)/.test(name))
    assert.deepEqual(own, [], wire.kind)
  }
})
