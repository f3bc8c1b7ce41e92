import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import which from 'which'
import { makeSandbox, type Sandbox } from '../support/run-binary.ts'
import { until } from '../support/until.ts'

/** Typed text, and the command line after Tab. */
const TYPED: [string, string][] = [
  ['crabtalk comple', 'crabtalk completions '],
  ['crabtalk agent cre', 'crabtalk agent create '],
  ['crabtalk send --out-', 'crabtalk send --out-file '],
  ['crabtalk send --output=js', 'crabtalk send --output=json '],
  ['crabtalk send -a rev', 'crabtalk send -a reviewer '],
  ['crabtalk send --agent=rev', 'crabtalk send --agent=reviewer '],
  ['crabtalk send -s tele', 'crabtalk send -s telegram:42 '],
  ['crabtalk send -s telegram:4', 'crabtalk send -s telegram:42 '],
  ['crabtalk send -f no', 'crabtalk send -f notes.md '],
]

/** The command that starts each shell, and the one that loads its completions. */
const STARTED: Record<string, { start: string; load: string }> = {
  bash: { start: 'exec bash --norc --noprofile -i', load: 'eval "$(crabtalk completions bash)"' },
  zsh: { start: 'exec zsh -f -i', load: 'source <(crabtalk completions zsh)' },
}

for (const [shell, { start, load }] of Object.entries(STARTED)) {
  test(`${shell} completes commands, options, values, names of this home, and files`, async () => {
    await using box = await makeHome()
    const script = await box.run(['completions', shell])
    assert.deepEqual([script.code, script.stderr], [0, ''])
    if ((await which(shell, { nothrow: true })) === null) return // test/commands/ checks the syntax
    const terminal = box.terminalShell(start, { columns: 200 })
    terminal.type(`PS1='> '; ${load}; echo lo""aded\n`)
    await terminal.shows(/^loaded/m)
    for (const [line, completed] of TYPED) {
      const before = terminal.output().length
      terminal.type(`${line}\t`)
      await until(`${shell} completes ${line}`, () => lineIn(terminal.output().slice(before)) === completed)
      terminal.type('\x15') // clears the line
    }
    terminal.type('exit\n')
    assert.equal((await terminal.finished).code, 0)
  })
}

test('fish completes commands, options, values, names of this home, and files', async () => {
  await using box = await makeHome()
  const script = await box.run(['completions', 'fish'])
  assert.deepEqual([script.code, script.stderr], [0, ''])
  if ((await which('fish', { nothrow: true })) === null) return
  await writeFile(join(box.cwd, 'load.fish'), script.stdout)
  for (const [line, completed] of TYPED) {
    const { stdout } = await box.shell(`fish -c 'source load.fish; complete -C "${line}"'`)
    const words = stdout.split('\n').map((row) => row.split('\t')[0])
    assert.ok(words.includes(completed.trim().split(' ').at(-1)!), `${line}: ${stdout}`)
  }
})

test('__complete ends although a file of the home never answers', async () => {
  await using box = await makeSandbox()
  const { code, stdout, stderr } = await box.shell(
    'mkdir -p "$CRABTALK_HOME/agents" && mkfifo "$CRABTALK_HOME/agents/a.toml" && crabtalk __complete 3 send -a ""',
    { env: { CRABTALK_HOME: box.home } },
  )
  assert.deepEqual([code, stdout], [143, 'words\n'], stderr)
})

async function makeHome(): Promise<Sandbox> {
  const box = await makeSandbox()
  await mkdir(join(box.home, 'agents'), { recursive: true })
  await writeFile(join(box.home, 'agents/reviewer.toml'), '')
  await writeFile(join(box.cwd, 'notes.md'), '')
  await writeFile(join(box.home, 'config.toml'), 'model = "demo"\n')
  const sent = await box.run(['send', '-s', 'telegram:42', 'hello'])
  assert.equal(sent.code, 0)
  return box
}

/** Returns the last command line that a terminal shows, as it was typed and completed. */
function lineIn(output: string): string {
  const text = stripVTControlCharacters(output).replaceAll('\u0007', '')
  return text.slice(text.lastIndexOf('crabtalk '))
}
