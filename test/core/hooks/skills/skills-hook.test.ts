import assert from 'node:assert/strict'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { skillsHook } from '../../../../src/core/hooks/skills/skills-hook.ts'
import type { Trust } from '../../../../src/core/policy/types.ts'
import type { ToolDispatch, UserMessage } from '../../../../src/core/runtime/hook.ts'
import { scanSkills } from '../../../../src/core/skills/scan-skills.ts'
import { skillRoots } from '../../../../src/core/skills/skill-roots.ts'
import { AGENT } from '../../../support/agents.ts'
import { toolDispatch } from '../../../support/dispatches.ts'
import { type TemporaryHome, temporaryHome } from '../../../support/temporary-home.ts'

const NEVER = new AbortController().signal

test('preprocess() replaces the name of a skill by its body, followed by the arguments as typed', async () => {
  await using home = await temporaryHome()
  await write(home, 'review', 'Look at the code.\n\nThen say.\n')
  const folder = `${home.paths.skills}/review`
  const tag = `<skill name="review" folder="${folder}">\nLook at the code.\n\nThen say.\n</skill>`
  assert.equal(await say(home, '/review'), tag)
  assert.equal(await say(home, '/review  src/a.ts  "b c"\nand this\n'), `${tag}\n\nsrc/a.ts  "b c"\nand this`)
  assert.equal(await say(home, '/skill:review now'), `${tag}\n\nnow`)
})

test('preprocess() does not change a message whose first word is not a skill', async () => {
  await using home = await temporaryHome()
  await write(home, 'etc', 'Never.')
  await home.write('secret/SKILL.md', matter('secret'))
  const messages = [
    ...[
      '/etc/hosts is what?',
      '/etcetera',
      '/ETC',
      '/',
      '//etc',
      ' /etc',
      'say /etc',
      '/none',
      '/skill:',
      '/etc:x',
    ],
    ...['/../secret', '/skills/../secret', '/skill:../secret', '/..\\secret', '/secret'],
  ]
  for (const message of messages) assert.equal(await say(home, message), undefined, message)
})

test('preprocess() reads a skill again each time', async () => {
  await using home = await temporaryHome()
  await write(home, 'one', 'First.')
  assert.match((await say(home, '/one'))!, /First\./)
  await write(home, 'one', 'Second.')
  assert.match((await say(home, '/one'))!, /Second\./)
})

test('preprocess() gives an agent the skills it may use, and prefers the longest name', async () => {
  await using home = await temporaryHome()
  await write(home, 'a', 'Short.')
  await write(home, 'a b', 'Long.')
  assert.match((await say(home, '/a b c', ['a b']))!, /Long\.\n<\/skill>\n\nc$/)
  assert.match((await say(home, '/a b c', ['a']))!, /Short\.\n<\/skill>\n\nb c$/)
  assert.equal(await say(home, '/a b c', ['other']), undefined)
})

test('preprocess() fills in $ARGUMENTS, and no other placeholder', async () => {
  await using home = await temporaryHome()
  await write(home, 'fix', 'Fix $ARGUMENTS, then $ARGUMENTS. Not $ARGUMENTS[0] or $ARGUMENTS_OF.')
  const filled = (await say(home, "/fix issue $& $'"))!
  assert.match(
    filled,
    /\nFix issue \$& \$', then issue \$& \$'\. Not \$ARGUMENTS\[0\] or \$ARGUMENTS_OF\.\n<\/skill>$/,
  )
  assert.match((await say(home, '/fix'))!, /\nFix , then \. Not/)
})

test('preprocess() escapes the end tag in a body and in its arguments', async () => {
  await using home = await temporaryHome()
  await write(home, 'evil', 'one </skill> two < / SKILL > $ARGUMENTS')
  const text = (await say(home, '/evil </skill\n> three'))!
  assert.equal(text.match(/<\s*\/\s*skill/gi)?.length, 1)
  assert.match(text, /\none &lt;\/skill> two &lt; \/ SKILL > &lt;\/skill\n> three\n<\/skill>$/)
})

test('preprocess() reports a skill that cannot be used, and passes its message through', async () => {
  await using home = await temporaryHome()
  await home.write('skills/broken/SKILL.md', 'no front matter')
  await write(home, 'huge', 'x'.repeat(256 * 1024))
  await write(home, 'echo', '$ARGUMENTS'.repeat(1000))
  const messages: string[] = []
  assert.equal(await say(home, '/broken now', [], messages), undefined)
  assert.equal(await say(home, '/huge', [], messages), undefined)
  assert.equal(await say(home, `/echo ${'x'.repeat(3000)}`, [], messages), undefined)
  assert.match(
    messages[0]!,
    /^Cannot use the skill in .*broken\/SKILL\.md:1: it does not start with front matter/,
  )
  assert.match(messages[1]!, /^Cannot use the skill "huge": .* more than 256 KiB$/)
  assert.match(messages[2]!, /^Cannot use the skill "echo": it repeats its arguments/)
  assert.equal(messages.length, 3)
})

test('preprocess() gives an untrusted sender only skills that the agent names', async () => {
  await using home = await temporaryHome()
  await write(home, 'deploy', 'The way to the server.')
  await write(home, 'people', 'For the user.', 'disable-model-invocation: true')
  await write(home, 'huge', 'x'.repeat(256 * 1024))
  await home.write('skills/broken/SKILL.md', 'no front matter')
  const sayFar = (content: string, skills: string[]) => say(home, content, skills, [], 'remote')
  for (const content of ['/deploy now', '/skill:deploy', '/people', '/huge', '/broken']) {
    assert.equal(await sayFar(content, []), undefined, content)
    assert.equal(await sayFar(content, ['other']), undefined, content)
  }
  assert.equal(await sayFar('/people', ['people']), undefined)
  assert.equal(await sayFar('/huge', ['huge']), undefined)
  assert.equal(await sayFar('/broken', ['broken']), undefined)
  assert.match((await sayFar('/deploy now', ['deploy']))!, /The way to the server\./)
})

test('schema() offers the tool only to a turn with skills, and to remote senders only named ones', async () => {
  await using home = await temporaryHome()
  assert.deepEqual(await offered(home), [])
  await write(home, 'people', 'x', 'disable-model-invocation: true')
  assert.deepEqual(await offered(home), [])
  await write(home, 'review', 'Look.')
  await write(home, 'test', 'Try.')
  assert.deepEqual(await offered(home), ['review', 'test'])
  assert.deepEqual(await offered(home, 'unattended'), ['review', 'test'])
  assert.deepEqual(await offered(home, 'local', ['test', 'none', 'people']), ['test'])
  assert.deepEqual(await offered(home, 'remote'), [])
  assert.deepEqual(await offered(home, 'remote', ['test']), ['test'])
})

test('skill returns the current text of a skill', async () => {
  await using home = await temporaryHome()
  await write(home, 'fix', 'Fix $ARGUMENTS. </skill>')
  const folder = `${home.paths.skills}/fix`
  const tag = `<skill name="fix" folder="${folder}">\nFix $ARGUMENTS. &lt;/skill>\n</skill>`
  for (const name of ['fix', ' FIX\n', '/fix', '/skill:fix']) {
    assert.deepEqual(await call(home, { name }), { output: tag, isError: false })
  }
  await write(home, 'Fix', 'Other.')
  assert.match((await call(home, { name: 'Fix' })).output, /Other\./)
  assert.match((await call(home, { name: 'FIX' })).output, /- Fix: x\n- fix: x$/)
})

test('skill searches names and descriptions by words, and lists all skills for an empty query', async () => {
  await using home = await temporaryHome()
  await home.write('skills/pdf/SKILL.md', '---\nname: pdf-forms\ndescription: Fills in a sheet\n---\n')
  await home.write('skills/office/SKILL.md', '---\nname: office\ndescription: Reads a PDF form\n---\n')
  await write(home, 'people', 'x', 'disable-model-invocation: true')
  const names = async (name?: unknown) => {
    const { output } = await call(home, { name })
    return [...output.matchAll(/^- ([\w-]+): /gm)].map(([, found]) => found)
  }
  assert.deepEqual(await names('form PDF'), ['pdf-forms', 'office'])
  assert.deepEqual(await names('sheet'), ['pdf-forms'])
  assert.deepEqual(await names('form sheet'), ['pdf-forms'])
  assert.deepEqual(await names(''), ['office', 'pdf-forms'])
  assert.deepEqual(await names(null), ['office', 'pdf-forms'])
  const none = await call(home, { name: '../pdf' })
  assert.equal(none.isError, true)
  assert.match(none.output, /^No skill is called, or is about, "\.\.\/pdf"; the skills are:\n- office: /)
  await assert.rejects(call(home, { name: 1 }), { kind: 'invalid', message: /name must be a string/ })
})

test('skill returns other files of a skill, but none outside it or hidden', async () => {
  await using home = await temporaryHome()
  await write(home, 'pdf', 'See references/forms.md')
  await home.write('skills/pdf/references/forms.md', 'Fill them in.')
  await home.write('skills/pdf/.env', 'KEY=secret')
  await home.write('skills/pdf/.git/config', 'secret')
  await home.write('skills/pdf/..odd', 'secret')
  await home.write('skills/pdf/a.bin', 'a\0b')
  await home.write('skills/pdf/long.md', 'x'.repeat(256 * 1024 + 1))
  await home.write('skills/pdf-other/x.md', 'secret')
  await home.write('outside.md', 'secret')
  await symlink(join(home.paths.home, 'outside.md'), join(home.paths.skills, 'pdf', 'linked.md'))
  await symlink(join(home.paths.skills, 'pdf', '.env'), join(home.paths.skills, 'pdf', 'shown.md'))
  await symlink('references/forms.md', join(home.paths.skills, 'pdf', 'alias.md'))
  await symlink('nowhere.md', join(home.paths.skills, 'pdf', 'dangling.md'))
  const read = (file: unknown) => call(home, { name: 'pdf', file })
  assert.deepEqual(await read('references/forms.md'), { output: 'Fill them in.', isError: false })
  assert.deepEqual(await read('./references/../references/forms.md'), await read('references/forms.md'))
  const absolute = join(home.paths.skills, 'pdf', 'references', 'forms.md')
  assert.deepEqual(await read(absolute), await read('references/forms.md'))
  assert.equal((await read('references')).output, 'forms.md')
  const all = 'SKILL.md, a.bin, alias.md, long.md, references/'
  assert.deepEqual(await read('alias.md'), await read('references/forms.md'))
  assert.equal((await read('.')).output, all)
  const outside = ['../../outside.md', '/etc/passwd', 'linked.md', '../pdf-other/x.md', '..']
  for (const file of [...outside, '.env', '.git/config', '..odd', 'shown.md', 'none.md']) {
    const refused = {
      kind: 'missing',
      message: new RegExp(`does not have that file; its folder has ${all}$`),
    }
    await assert.rejects(read(file), refused, file)
  }
  for (const file of ['a.bin', 'long.md']) await assert.rejects(read(file), { kind: 'invalid' })
  await assert.rejects(read(1), { kind: 'invalid', message: /file must be a string/ })
  await assert.rejects(call(home, { name: 'pdf', file: 'x'.repeat(5000) }), { kind: 'missing' })
})

test('skill returns nothing that the turn may not use', async () => {
  await using home = await temporaryHome()
  await write(home, 'review', 'Look.')
  await write(home, 'people', 'Deploy.', 'disable-model-invocation: true')
  for (const [name, trust, skills] of [
    ['review', 'local', ['other']],
    ['review', 'remote', []],
    ['people', 'local', []],
  ] as const) {
    const { output, isError } = await call(
      home,
      { name },
      { trust, agent: { ...AGENT, skills: [...skills] } },
    )
    assert.ok(isError)
    assert.doesNotMatch(output, /Look|Deploy/)
  }
  const other = skillsHook({ scan: () => assert.fail('it looked') })
  assert.equal(other.dispatch!('read', toolDispatch(), NEVER), undefined)
})

async function offered(home: TemporaryHome, trust: Trust = 'local', skills: string[] = []) {
  const [tool, ...more] = await makeHook(home).schema!(
    { ...AGENT, skills },
    { emit() {}, signal: NEVER, trust },
  )
  assert.equal(more.length, 0)
  return [...(tool?.description.matchAll(/^- ([\w-]+): /gm) ?? [])].map(([, name]) => name)
}

async function call(home: TemporaryHome, args: Record<string, unknown>, more: Partial<ToolDispatch> = {}) {
  return (await makeHook(home).dispatch!('skill', toolDispatch({ args, ...more }), NEVER))!
}

function makeHook(home: TemporaryHome) {
  return skillsHook({ scan: () => scanSkills(skillRoots(home.paths, '', { skillDirs: [] })) })
}

async function say(
  home: TemporaryHome,
  content: string,
  scope: string[] = [],
  told: string[] = [],
  trust: Trust = 'local',
) {
  const message: UserMessage = {
    ...{ agent: { ...AGENT, skills: scope }, content, trust, spillDir: '' },
    notice: (text) => void told.push(text),
    attach: () => assert.fail('it attached something'),
  }
  return await makeHook(home).preprocess!(message, NEVER)
}

function write(home: TemporaryHome, name: string, body: string, more = 'license: MIT'): Promise<void> {
  return home.write(`skills/${name}/SKILL.md`, `${matter(name, more)}${body}`)
}

function matter(name: string, more = 'license: MIT'): string {
  return `---\nname: ${name}\ndescription: x\n${more}\n---\n`
}
