import assert from 'node:assert/strict'
import { readdir, readFile, writeFile } from 'node:fs/promises'
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

test('agent edit on a terminal opens $EDITOR on both files and says whether they changed', async () => {
  await using box = await makeSandbox()
  await box.run(['agent', 'create', 'one'])
  const appends = 'f() { echo "# seen" >>"$1"; echo By hand. >"$2"; }; f'
  assert.deepEqual(await edit(box, appends), { code: 0, output: 'changed one\r\n' })
  assert.equal((await listed(box))[1]?.['prompt'], 'By hand.')
  assert.match(await readFile(join(box.home, 'agents/one.toml'), 'utf8'), /# seen\n$/)
  assert.deepEqual(await edit(box, 'true'), { code: 0, output: 'nothing changed: one is as it was\r\n' })
  const failed = await edit(box, 'false')
  assert.deepEqual([failed.code, /Cannot edit: false exited with 1/.test(failed.output)], [1, true])
  assert.deepEqual(await edit(box, '/nope'), {
    code: 1,
    output:
      'crabtalk: error[failed]: Cannot edit: the editor /nope was not found\r\n' +
      'hint: set EDITOR to an editor that is installed\r\n',
  })
})

test('agent edit never saves a rejected text, keeps it in a file beside, and offers to edit again', async () => {
  await using box = await makeSandbox()
  await box.run(['agent', 'create', 'one'])
  const folder = join(box.home, 'agents')
  const before = await readFile(join(folder, 'one.toml'), 'utf8')
  const breaks = 'f() { echo "nokey = 1" >>"$1"; }; f'
  const broken = await edit(box, breaks, 'n\r')
  assert.equal(broken.code, 78)
  assert.match(
    broken.output,
    /^agents\/one\.toml:\d+: unknown key "nokey"\r\nEdit again\? \[Y\/n\] n\r\n.*unknown key "nokey"\r\n/,
  )
  assert.match(broken.output, /one is unchanged; your text is in .*\/agents\/one\.toml\.rejected\r\n$/)
  assert.equal(await readFile(join(folder, 'one.toml'), 'utf8'), before)
  assert.equal(await readFile(join(folder, 'one.toml.rejected'), 'utf8'), `${before}nokey = 1\n`)
  const mends =
    'f() { if grep -q nokey "$1"; then echo "# again" >"$1"; else echo "nokey = 1" >>"$1"; fi; }; f'
  const mended = await edit(box, mends, '\r')
  assert.deepEqual([mended.code, mended.output.endsWith('changed one\r\n')], [0, true])
  const agentFiles = (await readdir(folder)).filter((name) => name.startsWith('one'))
  assert.deepEqual(agentFiles.toSorted(), ['one.md', 'one.toml', 'one.toml.rejected'])
})

test('agent edit does not overwrite a file that was changed meanwhile', async () => {
  await using box = await makeSandbox()
  await box.run(['agent', 'create', 'one'])
  const file = join(box.home, 'agents/one.md')
  const { code, output } = await edit(box, `f() { echo mine >"$2"; echo other >'${file}'; }; f`)
  assert.deepEqual([code, /one\.md was changed while you edited it/.test(output)], [1, true], output)
  assert.equal(await readFile(file, 'utf8'), 'other\n')
  assert.equal(await readFile(`${file}.rejected`, 'utf8'), 'mine\n')
})

/** Runs `agent edit one` with an editor on a terminal, and answers its question. */
async function edit(box: Sandbox, editor: string, answer?: string) {
  const terminal = box.terminal(['agent', 'edit', 'one'], {
    env: { EDITOR: editor, NO_COLOR: '1' },
    columns: 300,
  })
  if (answer !== undefined) {
    await terminal.shows(/Edit again/)
    terminal.type(answer)
  }
  const { code } = await terminal.finished
  return { code, output: terminal.output() }
}

async function listed(box: Sandbox): Promise<Record<string, unknown>[]> {
  return JSON.parse((await box.run(['agent', 'list', '--json'])).stdout)
}
