import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { scanSkills } from '../../../src/core/skills/scan-skills.ts'
import { skillRoots } from '../../../src/core/skills/skill-roots.ts'
import { temporaryHome } from '../../support/temporary-home.ts'

test('scanSkills() returns skills by name; the first root wins', async () => {
  await using home = await temporaryHome()
  const roots = ['a', 'b', 'none'].map((name) => ({ path: join(home.paths.home, name), isOwn: name === 'a' }))
  await skill(home.paths.home, 'b/one', 'zeta')
  await skill(home.paths.home, 'a/one', 'same', 'the first')
  await skill(home.paths.home, 'b/other', 'same', 'the second')
  await home.write('a/README.md', 'no skill')
  await mkdir(join(home.paths.home, 'a', 'empty'))
  await mkdir(join(home.paths.home, 'a', '.git'))
  await symlink(join(home.paths.home, 'b', 'one'), join(home.paths.home, 'a', 'linked'))
  const { skills, problems } = await scanSkills(roots)
  assert.deepEqual(
    skills.map(({ name, description, folder, root }) => [name, description, folder, root.isOwn]),
    [
      ['same', 'the first', join(home.paths.home, 'a', 'one'), true],
      ['zeta', 'does something', join(home.paths.home, 'a', 'linked'), true],
    ],
  )
  assert.deepEqual(problems, [
    {
      path: join(home.paths.home, 'b', 'other', 'SKILL.md'),
      line: 1,
      message: `it is not used: ${join(home.paths.home, 'a', 'one')} also has a "same"`,
    },
  ])
})

test('scanSkills() finds skills in nested folders, but none inside another, and does not report copies', async () => {
  await using home = await temporaryHome()
  const root = join(home.paths.home, 'skills')
  await skill(root, 'code/review', 'review')
  await skill(root, 'code/more/deep/test', 'test')
  await skill(root, 'code/review/template', 'template')
  await skill(root, '.off/hidden', 'hidden')
  await skill(root, 'copy', 'test')
  await symlink(root, join(root, 'code', 'again'))
  const { skills, problems } = await scanSkills([{ path: root, isOwn: true }])
  const folders = skills.map(({ name, folder }) => [name, folder.slice(root.length + 1)])
  assert.deepEqual(folders, [
    ['review', join('code', 'review')],
    ['test', 'copy'],
  ])
  assert.deepEqual(problems, [])
})

test('scanSkills() treats a root that is a skill itself as that skill', async () => {
  await using home = await temporaryHome()
  await skill(home.paths.home, 'one', 'one')
  await skill(home.paths.home, 'one/two', 'two')
  const { skills } = await scanSkills([{ path: join(home.paths.home, 'one'), isOwn: false }])
  assert.deepEqual(
    skills.map(({ folder }) => folder),
    [join(home.paths.home, 'one')],
  )
})

test('scanSkills() knows which skills are for users only', async () => {
  await using home = await temporaryHome()
  for (const [name, line] of [
    ['all', 'license: MIT'],
    ['all2', 'disable-model-invocation: false'],
    ['people', 'disable-model-invocation: True # they decide'],
  ] as const) {
    await home.write(`skills/${name}/SKILL.md`, `---\nname: ${name}\ndescription: x\n${line}\n---\n`)
  }
  const { skills } = await scanSkills([{ path: home.paths.skills, isOwn: true }])
  assert.deepEqual(
    skills.map(({ isForModel }) => isForModel),
    [true, true, false],
  )
})

test('scanSkills() omits broken skills and says why; a pipe does not block it', async () => {
  await using home = await temporaryHome()
  const root = join(home.paths.home, 'skills')
  await skill(home.paths.home, 'skills/good', 'good')
  await home.write('skills/plain/SKILL.md', '# no front matter\n')
  await home.write('skills/nameless/SKILL.md', '---\ndescription: x\n---\n')
  await home.write('skills/silent/SKILL.md', '---\nname: silent\n---\n')
  await home.write('skills/odd/SKILL.md', '---\nname: "a\\u001bb"\ndescription: x\n---\n')
  await home.write('skills/long/SKILL.md', `---\nname: long\ndescription: ${'x'.repeat(10_001)}\n---\n`)
  await home.write('skills/huge/SKILL.md', '-'.repeat(2 ** 20 + 1))
  await mkdir(join(root, 'pipe'))
  execFileSync('mkfifo', [join(root, 'pipe', 'SKILL.md')])
  const { skills, problems } = await scanSkills([{ path: root, isOwn: true }])
  assert.deepEqual(
    skills.map(({ name }) => name),
    ['good'],
  )
  assert.deepEqual(
    problems.map(({ path, line, message }) => `${dirname(path).slice(root.length + 1)}:${line} ${message}`),
    [
      'huge:1 it has more than 1 MiB',
      'long:1 its "description" has more than 10000 characters',
      'nameless:1 it has no "name"',
      'odd:1 its "name" is not made of at most 64 letters, digits and hyphens',
      'pipe:1 it is not a file',
      'plain:1 it does not start with front matter (---)',
      'silent:1 it has no "description"',
    ],
  )
})

test('skillRoots() returns those of the home, of config.toml, and of other programs, in this order', () => {
  const roots = skillRoots({ home: '/h/.crabtalk', skills: '/h/.crabtalk/skills' }, '/h', {
    skillDirs: ['~/mine', 'more', '/abs', '/h/.claude/skills'],
  })
  assert.deepEqual(
    roots.map(({ path, isOwn }) => `${path} ${isOwn}`),
    [
      '/h/.crabtalk/skills true',
      '/h/mine false',
      '/h/.crabtalk/more true',
      '/abs false',
      '/h/.claude/skills false',
      '/h/.agents/skills false',
      '/h/.codex/skills false',
    ],
  )
  const without = skillRoots({ home: '/c', skills: '/c/skills' }, '', { skillDirs: [] })
  assert.deepEqual(without, [{ path: '/c/skills', isOwn: true }])
})

async function skill(home: string, folder: string, name: string, description = 'does something') {
  const path = join(home, folder, 'SKILL.md')
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, `---\nname: ${name}\ndescription: ${description}\n---\n`)
}
