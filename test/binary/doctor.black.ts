import assert from 'node:assert/strict'
import { access, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { BINARY, makeSandbox } from '../support/run-binary.ts'

test('doctor prints which program this is and leaves an empty home untouched', async () => {
  await using box = await makeSandbox()
  const { stdout, stderr, code } = await box.run(['doctor'])
  assert.deepEqual([code, stderr], [0, ''])
  const form = BINARY.endsWith('.ts') ? 'from source' : 'one file of \\d+ MB'
  assert.match(stdout, new RegExp(`^program\\n  ok       crabtalk \\S+, ${form}: /`))
  assert.match(stdout, /searches with its own ripgrep/)
  assert.match(stdout, /\n0 problems, 1 warning\n$/)
  await assert.rejects(access(box.home), { code: 'ENOENT' })
})

test('doctor describes the terminal it runs on', async () => {
  await using box = await makeSandbox()
  const env = { LANG: 'C.UTF-8', NO_COLOR: undefined, TERM: 'xterm-256color' }
  const terminal = box.terminal(['doctor'], { columns: 90, env })
  assert.equal((await terminal.finished).code, 0)
  const shown = stripVTControlCharacters(terminal.output())
  assert.match(shown, /xterm-256color, 90 columns, bracketed paste/)
  assert.match(shown, /you are asked on this terminal about calls/)
  assert.match(shown, /UTF-8 \(LANG=C\.UTF-8\)/)
})

test('doctor --deep starts MCP servers, and says why one does not start', async () => {
  await using box = await makeSandbox()
  await mkdir(join(box.home, 'agents'), { recursive: true })
  const server = join(import.meta.dirname, '../support/mcp/misbehaving-server.ts')
  const good = `[[mcps]]\nname = "good"\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(server)}, "--tools=few"]\n`
  await writeFile(join(box.home, 'agents/a.toml'), good)
  const fine = await box.run(['doctor', '--deep'])
  assert.match(fine.stdout, /ok {7}good of a started in \d+ ms, \d+ tools/)
  assert.equal(fine.code, 0)
  await writeFile(join(box.home, 'config.toml'), '[permissions]\ndeny = ["mcp__good__nosuch"]\n')
  const idle = await box.run(['doctor', '--deep'])
  assert.match(
    idle.stdout,
    /warning {2}config\.toml:2: this deny rule denies nothing: mcp__good__nosuch: no tool of/,
  )
  await writeFile(join(box.home, 'agents/a.toml'), `${good}[[mcps]]\nname = "bad"\ncommand = "false"\n`)
  const broken = await box.run(['doctor', '--deep'])
  assert.match(broken.stdout, /problem {2}bad of a: .*\n +hint: /)
  assert.equal(broken.code, 1)
})

test('send reports a usage error as one JSON object when JSON is requested', async () => {
  await using box = await makeSandbox()
  for (const args of [
    ['--output', 'json', '--frob'],
    ['-o=json', '--color', 'pink', 'x'],
    ['-ojson', '--max-turns'],
  ]) {
    const { stdout, stderr, code } = await box.run(['send', ...args])
    const { ok, exit, error } = JSON.parse(stdout)
    assert.deepEqual([ok, exit, error.code, code], [false, 2, 'usage', 2], args.join(' '))
    assert.match(stderr, /^crabtalk: error\[usage\]: /)
  }
  const { stdout } = await box.run(['send', '--frob', '--', '--output', 'json'])
  assert.equal(stdout, '')
})
