import assert from 'node:assert/strict'
import { readFile, symlink, writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import type { Question } from '../../../../src/core/runtime/asks.ts'
import { makeInstructionFixture } from '../../../support/instruction-fixture.ts'

const W = 'user/work'
const NEVER = new AbortController().signal

test('instructionsHook() tells a user once which files of a folder are used', async () => {
  await using fixture = await makeInstructionFixture()
  await fixture.folder(`${W}/.git`)
  await fixture.write(`${W}/AGENTS.md`)
  await fixture.write(`${W}/src/Crab.md`)
  const root = fixture.at(W)
  const first = await fixture.read(`${W}/src`)
  assert.deepEqual(first.notices, [
    `uses the instructions of ${root}: AGENTS.md, src/Crab.md; to stop this: crabtalk trust remove ${root}`,
  ])
  const second = await fixture.read(`${W}/src`)
  assert.deepEqual([second.notices, second.prompt], [[], first.prompt])
  assert.equal((await fixture.trust.read()).get(root)?.state, 'notified')
})

test('instructionsHook() uses the first of Crab.md, AGENTS.md, CLAUDE.md and GEMINI.md in each folder', async () => {
  await using fixture = await makeInstructionFixture()
  await fixture.folder(`${W}/.git`)
  for (const name of ['GEMINI.md', 'CLAUDE.md']) await fixture.write(`${W}/${name}`)
  for (const name of ['GEMINI.md', 'CLAUDE.md', 'AGENTS.md']) await fixture.write(`${W}/src/${name}`)
  await fixture.write(`${W}/src/lib/GEMINI.md`)
  const { notices } = await fixture.read(`${W}/src/lib`)
  assert.match(
    notices.join('\n'),
    /^uses the instructions of \S+: CLAUDE\.md, src\/AGENTS\.md, src\/lib\/GEMINI\.md; /,
  )
})

test('instructionsHook() reports a new file in a known folder, but not a changed one', async () => {
  await using fixture = await makeInstructionFixture()
  await fixture.write(`${W}/AGENTS.md`)
  await fixture.read(W)
  await fixture.write(`${W}/AGENTS.md`, 'other words')
  assert.deepEqual((await fixture.read(W)).notices, [])
  await fixture.write(`${W}/Crab.md`)
  assert.match(
    (await fixture.read(W)).notices.join('\n'),
    /^uses the instructions of .*: Crab\.md; to stop this: \S+ trust remove \S+$/,
  )
})

test('instructionsHook() reports once why a file is not read, and again for another reason', async () => {
  await using fixture = await makeInstructionFixture()
  await symlink('/etc/passwd', fixture.at(`${W}/AGENTS.md`))
  assert.deepEqual((await fixture.read(W)).notices, [
    `in ${fixture.at(W)}, AGENTS.md: it is not read: it is a link that points outside its folder`,
  ])
  assert.deepEqual((await fixture.read(W)).notices, [])
  await fixture.write(`${W}/Crab.md`, 'a\0b')
  assert.equal((await fixture.read(W)).notices.length, 1)
})

test('instructionsHook() uses nothing of an untrusted folder, and reports nothing', async () => {
  await using fixture = await makeInstructionFixture()
  await fixture.write(`${W}/AGENTS.md`)
  await fixture.write('user/.crabtalk/Crab.md')
  await fixture.trust.setState(fixture.at(W), 'untrusted', NEVER)
  const { files, notices } = await fixture.read(W)
  assert.deepEqual([files, notices], [[['user/.crabtalk/Crab.md', 'user/.crabtalk/Crab.md']], []])
})

test('instructionsHook() uses a trusted folder without a notice', async () => {
  await using fixture = await makeInstructionFixture()
  await fixture.write(`${W}/AGENTS.md`)
  await fixture.trust.setState(fixture.at(W), 'trusted', NEVER)
  const { files, notices } = await fixture.read(W)
  assert.deepEqual([files.length, notices], [1, []])
})

test('instructionsHook() gives a remote turn only the home’s own file, without a notice', async () => {
  await using fixture = await makeInstructionFixture()
  await fixture.write(`${W}/AGENTS.md`)
  await fixture.write('user/.crabtalk/Crab.md')
  await fixture.trust.setState(fixture.at(W), 'trusted', NEVER)
  const turn = { trust: 'remote', ask: refuse } as const
  const { files, notices } = await fixture.read(W, turn)
  assert.deepEqual([files.map(([path]) => path), notices], [['user/.crabtalk/Crab.md'], []])
  await fixture.write('user/.crabtalk/Crab.md', 'a\0b')
  assert.deepEqual(await fixture.read(W, turn), { prompt: '', files: [], warnings: [], notices: [] })
})

test('instructionsHook() gives an unattended turn only what the user trusted explicitly', async () => {
  await using fixture = await makeInstructionFixture()
  await fixture.write(`${W}/AGENTS.md`)
  const turn = { trust: 'unattended' } as const
  const untold = await fixture.read(W, turn)
  assert.deepEqual(untold.files, [])
  assert.match(untold.notices.join(), /this turn is unattended; to use them: crabtalk trust add \/\S+work$/)
  await fixture.read(W) // the user is told
  assert.deepEqual((await fixture.read(W, turn)).files, [])
  await fixture.trust.setState(fixture.at(W), 'trusted', NEVER)
  assert.equal((await fixture.read(W, turn)).files.length, 1)
})

test('instructionsHook() asks a client once if it can answer, and keeps the answer', async () => {
  for (const [answer, state, used] of [
    ['Yes', 'trusted', 1],
    ['No', 'untrusted', 0],
  ] as const) {
    await using fixture = await makeInstructionFixture()
    await fixture.write(`${W}/AGENTS.md`)
    const received: Question[] = []
    const ask = async (questions: readonly Question[]) => {
      received.push(...questions)
      return { [questions[0]!.question]: answer }
    }
    for (let turn = 0; turn < 2; turn++) {
      const { files, notices } = await fixture.read(W, { ask })
      assert.deepEqual([files.length, notices], [used, []])
    }
    assert.equal(received.length, 1)
    assert.equal(received[0]?.question, `Use the instruction files of ${fixture.at(W)}? AGENTS.md`)
    assert.equal(received[0]?.options[0]?.label, 'Yes')
    assert.equal((await fixture.trust.read()).get(fixture.at(W))?.state, state)
  }
})

test('instructionsHook() continues without the files, and asks again, when the question is not answered', async () => {
  await using fixture = await makeInstructionFixture()
  await fixture.write(`${W}/AGENTS.md`)
  for (const answers of [undefined, {}]) {
    let questionCount = 0
    const ask = async (questions: readonly Question[]) => {
      questionCount++
      return answers && { [questions[0]!.question]: '' }
    }
    const { files, notices } = await fixture.read(W, { ask })
    assert.deepEqual([files, notices, questionCount], [[], [], 1])
  }
  assert.equal((await fixture.trust.read()).size, 0)
})

test('instructionsHook() stores nothing for an ephemeral turn', async () => {
  await using fixture = await makeInstructionFixture()
  await fixture.write(`${W}/AGENTS.md`)
  const ask = async (questions: readonly Question[]) => ({ [questions[0]!.question]: 'Yes' })
  for (const turn of [{}, { ask }]) {
    assert.equal((await fixture.read(W, { ...turn, ephemeral: true })).files.length, 1)
  }
  assert.equal((await fixture.trust.read()).size, 0)
})

test('instructionsHook() does not ask about a folder without instructions', async () => {
  await using fixture = await makeInstructionFixture()
  await fixture.read(W, { ask: refuse })
  await symlink('/etc/passwd', fixture.at(`${W}/AGENTS.md`))
  assert.equal((await fixture.read(W, { ask: refuse })).warnings.length, 1)
})

test('instructionsHook() uses no project’s files when trust.toml cannot be read, and says why', async () => {
  await using fixture = await makeInstructionFixture()
  await fixture.write(`${W}/AGENTS.md`)
  await writeFile(fixture.at('user/.crabtalk/trust.toml'), 'project = 1')
  const { files, notices } = await fixture.read(W)
  assert.deepEqual(files, [])
  assert.match(
    notices.join('\n'),
    /^instruction files of \/\S+work are not used: trust\.toml:1: .*project.*$/,
  )
})

test('instructionsHook() continues when it cannot store the notice, and repeats it', async () => {
  await using fixture = await makeInstructionFixture()
  await fixture.write(`${W}/AGENTS.md`)
  const trust = fixture.storeAt('/proc/trust.toml') // no user may write there, and most systems have no such folder
  for (let turn = 0; turn < 2; turn++) {
    const { files, notices } = await fixture.read(W, {}, { trust })
    assert.equal(files.length, 1)
    assert.equal(notices.length, 2)
    assert.match(notices[1]!, /^this notice will appear again: /)
  }
})

test("trust.toml keeps the user's comments", async () => {
  await using fixture = await makeInstructionFixture()
  await fixture.write(`${W}/AGENTS.md`)
  await fixture.read(W)
  const file = fixture.at('user/.crabtalk/trust.toml')
  const text = await readFile(file, 'utf8')
  assert.match(
    text,
    /^# .*\n\n\[\[project\]\]\npath = "\/.*work"\nstate = "notified"\nsince = "20.*"\nnotices = \["AGENTS\.md"\]\n$/,
  )
  await writeFile(file, `# mine\n${text}`)
  await fixture.write(`${W}/Crab.md`)
  await fixture.read(W)
  assert.match(await readFile(file, 'utf8'), /^# mine\n[\s\S]*notices = \["AGENTS\.md", "Crab\.md"\]/)
})

const refuse = async () => assert.fail('nothing is to be asked')
