import assert from 'node:assert/strict'
import { mkdir, rename, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { openChat } from '../support/chat-session.ts'
import { HAS_DAEMONS } from '../support/run-binary.ts'
import { startSandboxDaemon, WITH_DAEMON } from '../support/sandbox-daemon.ts'
import { assertFailed, lastPrompt, makeTalk, type Talk } from '../support/talk.ts'
import { until } from '../support/until.ts'

const ANSWER = () => ({ parts: ['done'] })

describe('skills', { concurrency: 2 }, () => {
  test('send replaces the name of a skill with its text, and leaves unknown names unchanged', async () => {
    await using talk = await makeTalk(ANSWER)
    const folder = await writeSkill(talk, 'review', 'Look at this.')
    await mkdir(join(talk.cwd, '.crabtalk', 'skills', 'local'), { recursive: true })
    await writeFile(join(talk.cwd, '.crabtalk', 'skills', 'local', 'SKILL.md'), matter('local'))
    const send = async (words: string, stdin?: string) => {
      const { code, stderr } = await talk.send(['-s', 'ann', words], { ...(stdin && { stdin }) })
      assert.deepEqual([code, stderr], [0, ''])
      return lastPrompt(talk.server.requests.at(-1))
    }
    const tag = (body: string) => `<skill name="review" folder="${folder}">\n${body}\n</skill>`
    assert.equal(await send('/review'), tag('Look at this.'))
    await writeSkill(talk, 'review', 'Look closely at $ARGUMENTS.')
    assert.equal(await send('/review src/a.ts'), tag('Look closely at src/a.ts.'))
    await writeSkill(talk, 'review', 'Look. </skill> Now.')
    assert.equal(
      await send('/review it', 'diff\n'),
      `${tag('Look. &lt;/skill> Now.')}\n\nit\n\n<stdin>\ndiff\n</stdin>`,
    )
    for (const words of ['/etc/hosts what is it?', '/local x', '/../review', '/reviews'])
      assert.equal(await send(words), words)
    const listed = await talk.run(['conversation', 'list', '--json'])
    assert.match(listed.stdout, /"\/review"/)
    const shown = await talk.run(['conversation', 'show'])
    assert.match(shown.stdout, /\/review src\/a\.ts/)
    assert.doesNotMatch(shown.stdout, /Look closely/)
  })

  test('a daemon replaces them as well, and limits an agent to its skills', async () => {
    await using talk = await makeTalk(ANSWER)
    await writeSkill(talk, 'review', 'Look at this.')
    await using _daemon = HAS_DAEMONS ? undefined : await startSandboxDaemon(talk)
    const send = () => talk.run(['send', '/review it'], { env: WITH_DAEMON })
    await send()
    assert.match(lastPrompt(talk.server.requests.at(-1)), /^<skill name="review"/)
    await talk.run(['agent', 'edit', 'crab', '--set', 'skills=["other"]'], { env: WITH_DAEMON })
    await send()
    assert.equal(lastPrompt(talk.server.requests.at(-1)), '/review it')
  })

  test('a cron entry sends the skill to the model, and fails when the agent no longer has it', async () => {
    await using talk = await makeTalk(ANSWER)
    const folder = await writeSkill(talk, 'check-feeds', 'Look.')
    assert.equal((await talk.run(['cron', 'add', '@yearly', '/check-feeds'])).code, 0)
    assert.equal((await talk.run(['cron', 'run', '1'])).stdout, 'done\n')
    const [request] = talk.server.requests
    assert.equal(lastPrompt(request), `<skill name="check-feeds" folder="${folder}">\nLook.\n</skill>`)
    await talk.run(['agent', 'edit', 'crab', '--set', 'skills=["other"]'])
    assertFailed(await talk.run(['cron', 'run', '1']), 'missing', {
      message: /Cannot find the skill "check-feeds"/,
    })
    assert.equal(talk.server.requests.length, 1)
  })

  test('skill list and show describe the skills and their problems', async () => {
    await using talk = await makeTalk(ANSWER)
    const none = await talk.run(['skill', 'list'])
    assert.deepEqual([none.code, none.stdout, /^No skills yet/.test(none.stderr)], [0, '', true])
    const folder = await writeSkill(talk, 'review', 'Look at this.')
    await mkdir(join(talk.home, 'skills', 'bad'))
    await symlink('/dev/zero', join(talk.home, 'skills', 'bad', 'SKILL.md'))
    const listed = await talk.run(['skill', 'list'])
    assert.match(listed.stdout, /^NAME +FOLDER +DESCRIPTION\nreview +\/.*\/skills\/review +Does it\n$/)
    assert.match(listed.stderr, /^crabtalk: .*bad\/SKILL\.md:1: it is not a file\n$/)
    const { skills, problems } = JSON.parse((await talk.run(['skill', 'list', '--json'])).stdout)
    assert.deepEqual(skills, [{ name: 'review', description: 'Does it', folder, own: true }])
    assert.equal(problems.length, 1)
    assert.equal((await talk.run(['skill', 'show', 'review'])).stdout, 'Look at this.\n')
    assertFailed(await talk.run(['skill', 'show', 'rewiev']), 'missing', {
      message: /Cannot find the skill "rewiev"/,
      hint: /review/,
    })
  })

  test('the model reads a skill in a nested folder by itself, without a question', async () => {
    const read = { call: 'a', name: 'skill', args: '{"name":"review"}' }
    await using talk = await makeTalk((_, index) => (index === 0 ? { parts: [read] } : { parts: ['done'] }))
    const made = await talk.run(['skill', 'new', 'review', 'Looks at code'])
    assert.equal(made.stdout, `${join(talk.home, 'skills', 'review', 'SKILL.md')}\n`)
    await mkdir(join(talk.home, 'skills', 'code'))
    const folder = join(talk.home, 'skills', 'code', 'review')
    await rename(join(talk.home, 'skills', 'review'), folder)
    const checked = await talk.run(['skill', 'check'])
    assert.deepEqual([checked.stdout, checked.code], ['1 skill, no problems\n', 0])
    const { stdout, stderr, code } = await talk.send(['look at it'])
    assert.deepEqual([stdout, stderr, code], ['done\n', '', 0])
    assert.match(talk.server.requests[0]!.text, /- review: Looks at code/)
    assert.ok(talk.server.requests[1]!.text.includes(`<skill name=\\"review\\" folder=\\"${folder}\\">`))
  })

  test('wrong command lines of skill are explained, and exit 2', async () => {
    await using talk = await makeTalk(ANSWER)
    const lines: [string[], RegExp, RegExp][] = [
      [['skill'], /^Cannot run "crabtalk skill" alone: name one of list, show, new, check$/, /--help$/],
      [['skill', 'lst'], /^Unknown command "skill lst"$/, /crabtalk skill list/],
      [['skill', 'list', '--jsn'], /^Unknown option --jsn$/, /--json\?$/],
      [['skill', 'show'], /<name> is missing$/, /<name>$/],
      [['skill', 'new', 'x'], /<description> is missing$/, /<description>$/],
      [['skill', 'new', '../x', 'y'], /its "name" is not made of/, /skill new changelog/],
      [['skill', 'new', 'Two words', 'y'], /lowercase letters, digits and hyphens/, /skill new changelog/],
      [['skill', 'check', 'a', 'b'], /it takes no more than/, /\[folder\]$/],
    ]
    for (const [argv, message, hint] of lines) assertFailed(await talk.run(argv), 'usage', { message, hint })
  })

  test('the chat completes skills, sends them as typed, and rejects unknown ones', async () => {
    await using talk = await makeTalk(ANSWER)
    await writeSkill(talk, 'review', 'Look at this.')
    await writeSkill(talk, 'new', 'Invent.')
    await using chat = openChat(talk)
    await chat.shows(/Ask anything/)
    chat.type('/rev')
    await chat.shows(/\/review \[…\] +Does it/)
    chat.press('tab')
    await chat.shows('> /review')
    chat.type('src/a.ts')
    chat.press('enter')
    await chat.shows('done')
    assert.match(lastPrompt(talk.server.requests.at(-1)), /Look at this\.\n<\/skill>\n\nsrc\/a\.ts$/)
    assert.ok(chat.screen.text().every((line) => !line.includes('Look at this')))
    chat.type('/rewiev')
    chat.press('enter')
    await chat.shows(/Unknown command \/rewiev/)
    assert.equal(talk.server.requests.length, 1)
    chat.type('/skill:new one')
    chat.press('enter')
    await until('it is sent', () => talk.server.requests.length === 2)
    assert.match(lastPrompt(talk.server.requests[1]), /^<skill name="new"[\s\S]*\n\none$/)
  })
})

async function writeSkill({ home }: Talk, name: string, body: string): Promise<string> {
  const folder = join(home, 'skills', name)
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'SKILL.md'), `${matter(name)}${body}\n`)
  return folder
}

function matter(name: string): string {
  return `---\nname: ${name}\ndescription: Does it\n---\n`
}
