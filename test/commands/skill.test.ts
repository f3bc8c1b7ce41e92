import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { CommandHandler } from '../../src/cli/command.ts'
import { parseOptions } from '../../src/cli/parse.ts'
import { checkSkillsCommand } from '../../src/commands/skill/check.ts'
import { newSkillCommand } from '../../src/commands/skill/new.ts'
import { SKILL_COMMANDS } from '../../src/commands/skill/table.ts'
import { makeTestHost, type TestHost } from '../support/test-host.ts'

test('skill new creates a skill that passes skill check, and rejects an existing name', async () => {
  await using one = await makeTestHost()
  const describe = 'Writes: "it" # all\nof it'
  await run(one, 'new', newSkillCommand, ['notes', describe])
  const path = join(one.folder, '.crabtalk', 'skills', 'notes', 'SKILL.md')
  assert.equal(one.stdout(), `${path}\n`)
  assert.match(
    await readFile(path, 'utf8'),
    /^---\nname: notes\ndescription: "Writes: .*"\n---\n\nDescribe here/,
  )
  await run(one, 'new', newSkillCommand, ['plain', 'Does it.'])
  assert.equal(await run(one, 'check', checkSkillsCommand, []), 0)
  assert.match(one.stdout(), /\n2 skills, no problems\n$/)
  await assert.rejects(run(one, 'new', newSkillCommand, ['notes', 'x']), {
    kind: 'conflict',
    message: /it already exists in /,
  })
  await assert.rejects(run(one, 'new', newSkillCommand, ['../x', 'x']), {
    kind: 'usage',
    message: /its "name" is not/,
  })
  await assert.rejects(run(one, 'new', newSkillCommand, ['x', ' ']), {
    kind: 'usage',
    message: /no "description"/,
  })
})

test('skill check reports errors with their line, and warns of what only other programs reject', async () => {
  await using one = await makeTestHost()
  await write(one, 'set/fine', 'name: fine\ndescription: x')
  await write(one, 'set/Odd', 'name: Odd one\ndescription: x')
  await write(one, 'set/long', `name: long\ndescription: ${'x'.repeat(1025)}`)
  await write(one, 'set/deep/bad', 'name: bad\nwhat')
  await write(one, 'set/huge', 'name: huge\ndescription: x', 'x'.repeat(256 * 1024))
  assert.equal(await run(one, 'check', checkSkillsCommand, ['set']), 78)
  const lines = one
    .stdout()
    .replaceAll(`${join(one.folder, 'set')}/`, '')
    .trimEnd()
    .split('\n')
  assert.deepEqual(
    lines.map((line) => line.replace(/: (.{20}).*/, ' $1')),
    [
      'deep/bad/SKILL.md:3 this line is not of ',
      'huge/SKILL.md:1 Cannot use the skill',
      'Odd/SKILL.md:1 warning: other progr',
      'long/SKILL.md:1 warning: other progr',
    ],
  )
  for (const folder of ['set/fine', 'set/fine/SKILL.md']) {
    assert.equal(await run(one, 'check', checkSkillsCommand, [folder]), 0)
    assert.match(one.stdout(), /\n1 skill, no problems\n$/)
  }
  await assert.rejects(run(one, 'check', checkSkillsCommand, ['none']), { kind: 'missing' })
})

test('skill check --json prints skills, problems and warnings', async () => {
  await using one = await makeTestHost()
  await write(one, 'set/Odd', 'name: Odd one\ndescription: x')
  await write(one, 'set/bad', 'name: bad')
  assert.equal(await run(one, 'check', checkSkillsCommand, ['set', '--json']), 78)
  const { skills, problems, warnings } = JSON.parse(one.stdout())
  assert.deepEqual(skills, [{ name: 'Odd one', folder: join(one.folder, 'set', 'Odd') }])
  assert.equal(problems[0].message, 'it has no "description"')
  assert.deepEqual([problems.length, warnings.length, warnings[0].line], [1, 1, 1])
})

async function run(
  { host }: TestHost,
  verb: string,
  command: CommandHandler,
  argv: string[],
): Promise<number> {
  const row = SKILL_COMMANDS.find(({ path }) => path[1] === verb)!
  const options = parseOptions({ program: 'crabtalk', command: row }, argv)
  const { path } = row
  const { signal } = new AbortController()
  const code = await command({ program: 'crabtalk', commands: SKILL_COMMANDS, path, options, host, signal })
  await host.stdout.flush()
  return code
}

async function write({ folder }: TestHost, path: string, matter: string, body = ''): Promise<void> {
  await mkdir(join(folder, path), { recursive: true })
  await writeFile(join(folder, path, 'SKILL.md'), `---\n${matter}\n---\n${body}`)
}
