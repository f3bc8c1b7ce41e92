import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeSandbox, type Sandbox } from '../support/run-binary.ts'
import { assertFailed } from '../support/talk.ts'

test('agent edit changes the given keys and leaves comments, order and the other keys alone', async () => {
  await using box = await makeSandbox()
  await box.run(['agent', 'create', 'one', '--description', 'old', '--prompt', 'P'])
  const file = join(box.home, 'agents/one.toml')
  const before = `# mine\n${await readFile(file, 'utf8')}tools = ["read"] # only this\n\n# the end\n`
  await writeFile(file, before)
  const { stdout } = await box.run([
    'agent',
    'edit',
    'one',
    '--description',
    'new',
    '--set',
    'max_iterations=30',
  ])
  assert.equal(stdout, 'changed one\n')
  const after = await readFile(file, 'utf8')
  assert.equal(after.replace(/^max_iterations = 30\n/m, ''), before.replace('"old"', '"new"'))
  await box.run(['agent', 'edit', 'one', '--set', 'max_iterations='])
  assert.equal(await readFile(file, 'utf8'), before.replace('"old"', '"new"'))
  assertFailed(await box.run(['agent', 'edit', 'one', '--prompt', '']), 'usage', {
    message: /empty prompt/,
    hint: /agent edit one$/,
  })
  assertFailed(await box.run(['agent', 'edit', 'one']), 'usage', {
    message: /there is no terminal$/,
    hint: /--set/,
  })
  assertFailed(await box.run(['agent', 'edit', 'nosuch', '--model', 'x']), 'missing', {
    message: /"nosuch"$/,
  })
  assert.equal((await listed(box))[1]?.['prompt'], 'P')
})

test('agent edit on a terminal opens $EDITOR on both files and then reports problems', async () => {
  await using box = await makeSandbox()
  await box.run(['agent', 'create', 'one'])
  const edit = async (editor: string) => {
    const terminal = box.terminal(['agent', 'edit', 'one'], { env: { EDITOR: editor } })
    const { code } = await terminal.finished
    return { code, output: terminal.output() }
  }
  const appends = 'f() { echo "# seen" >>"$1"; echo By hand. >"$2"; }; f'
  assert.deepEqual(await edit(appends), { code: 0, output: 'changed one\r\n' })
  assert.equal((await listed(box))[1]?.['prompt'], 'By hand.')
  assert.match(await readFile(join(box.home, 'agents/one.toml'), 'utf8'), /# seen\n$/)
  const failed = await edit('false')
  assert.deepEqual([failed.code, /Cannot edit: false exited with 1/.test(failed.output)], [1, true])
  const broken = await edit('f() { echo "nokey = 1" >>"$1"; }; f')
  assert.deepEqual(
    [broken.code, /agents\/one\.toml:\d+: unknown key "nokey"/.test(broken.output)],
    [78, true],
  )
})

async function listed(box: Sandbox): Promise<Record<string, unknown>[]> {
  return JSON.parse((await box.run(['agent', 'list', '--json'])).stdout)
}
