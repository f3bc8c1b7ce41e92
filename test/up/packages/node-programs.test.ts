import assert from 'node:assert/strict'
import { chmodSync, rmSync, symlinkSync } from 'node:fs'
import { delimiter } from 'node:path'
import { test } from 'node:test'
import { runTool } from '../../../src/core/process/run-tool.ts'
import { findNpmProgram } from '../../../src/up/packages/node-programs.ts'
import { makeTree } from '../../support/trees.ts'

/** Simulates Node and npm on Windows, as far as this system can run them. */
async function makeWindows() {
  const tree = await makeTree({
    'nodejs/npm': 'a batch file',
    'nodejs/node_modules/npm/bin/npm-cli.js': 'console.log("bundled", process.argv.slice(2).join("|"))',
    'roaming/npm': 'a batch file',
    'roaming/node_modules/npm/bin/npm-cli.js': 'console.log("newer", process.argv.slice(2).join("|"))',
    'shims/npm': 'a batch file',
    'volta/npm.exe': 'a program',
  })
  for (const name of ['nodejs/npm', 'roaming/npm', 'shims/npm', 'volta/npm.exe'])
    chmodSync(tree.path(name), 0o755)
  symlinkSync(process.execPath, tree.path('nodejs/node.exe'))
  symlinkSync(process.execPath, tree.path('nodejs/node'))
  return tree
}

test('findNpmProgram() returns Node and the script behind the batch file of Windows', async () => {
  await using tree = await makeWindows()
  const at = (key: string, ...folders: string[]) =>
    ({ platform: 'win32', env: { [key]: folders.map(tree.path).join(delimiter) } }) as const
  const run = async (host: ReturnType<typeof at>) => {
    const argv = await findNpmProgram(host, tree.path('.'))
    const { signal } = new AbortController()
    return (await runTool([...argv, 'a b', '"&^%'], { env: process.env }, signal)).stdout
  }
  assert.equal(await run(at('PATH', 'nodejs', 'roaming')), 'bundled a b|"&^%\n')
  assert.equal(await run(at('Path', 'roaming', 'nodejs')), 'newer a b|"&^%\n') // Node is in the other folder
  const missing = findNpmProgram(at('PATH', 'shims', 'nodejs'), tree.path('.'))
  await assert.rejects(missing, {
    kind: 'missing',
    message: /^Cannot run .*shims.npm: .*npm-cli\.js does not exist$/,
  })
  rmSync(tree.path('nodejs/node'))
  await assert.rejects(findNpmProgram(at('PATH', 'roaming'), tree.path('.')), {
    kind: 'missing',
    message: /^Cannot run .*: no node is beside it or on the PATH$/,
  })
})

test('findNpmProgram() runs npm directly if it is a program', async () => {
  await using tree = await makeWindows()
  symlinkSync(tree.path('volta/npm.exe'), tree.path('volta/npm'))
  const env = { PATH: tree.path('roaming') }
  assert.deepEqual(await findNpmProgram({ platform: 'linux', env }, tree.path('.')), [
    tree.path('roaming/npm'),
  ])
  await assert.rejects(findNpmProgram({ platform: 'win32', env: { PATH: tree.path('.') } }, tree.path('.')), {
    message: 'Cannot run npm: no npm is on the PATH',
  })
})

test('findNpmProgram() does not take a file of the working directory as npm when there is no PATH', async () => {
  await using tree = await makeWindows()
  const found = await findNpmProgram({ platform: 'linux', env: {} }, tree.path('roaming')).catch(() => [])
  assert.notEqual(found[0], tree.path('roaming/npm'))
})
