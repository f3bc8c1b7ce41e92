import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const BUILD = pathToFileURL(join(import.meta.dirname, '../../bin/build.ts'))

test('describeBuild() starts this program from source so that Node does not read its --env-file', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-build-'))
  const script = join(folder.path, 'says.mts')
  await writeFile(
    script,
    `import { describeBuild } from '${BUILD}'\nconsole.log(JSON.stringify([process.argv.slice(2), describeBuild().command]))\n`,
  )
  const missing = join(folder.path, 'none.env')
  await assert.rejects(run(process.execPath, [script, '--env-file', missing]), { code: 9 })
  const [, [program, ...args]] = JSON.parse((await run(process.execPath, ['--', script])).stdout)
  const { stdout } = await run(program, [...args, 'daemon', 'run', '--env-file', missing])
  assert.deepEqual(JSON.parse(stdout)[0], ['daemon', 'run', '--env-file', missing])
})
