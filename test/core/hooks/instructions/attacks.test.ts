import assert from 'node:assert/strict'
import { link, rename, rm, symlink } from 'node:fs/promises'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { FILE_TRICKS } from '../../../support/instruction-file-tricks.ts'
import {
  type InstructionFixture,
  KEY,
  makeInstructionFixture,
  OUTSIDE,
} from '../../../support/instruction-fixture.ts'
import { FOLDER_TRICKS } from '../../../support/instruction-folder-tricks.ts'
import { AGENTS, makeRepository, WORK } from '../../../support/instruction-tricks.ts'

const TRICKS = [...FILE_TRICKS, ...FOLDER_TRICKS]

for (const { name, play, cwd = WORK, used, notices = [] } of TRICKS) {
  test(`instructionsHook() and the trick: ${name}`, async () => {
    await using fixture = await makeInstructionFixture()
    await play(fixture)
    const { prompt, files, warnings } = await fixture.read(cwd)
    assert.doesNotMatch(prompt, new RegExp(`${OUTSIDE}|${KEY}|root:`))
    const expected = used.map((file) => (typeof file === 'string' ? ([file, file] as const) : file))
    assert.deepEqual(
      files.map(([path]) => path),
      expected.map(([path]) => path),
    )
    for (const [index, [, text]] of expected.entries()) {
      if (typeof text === 'string') assert.equal(files[index]![1], text)
      else assert.match(files[index]![1], text)
    }
    assert.equal(warnings.length, notices.length, warnings.join('\n'))
    for (const [index, pattern] of notices.entries()) assert.match(warnings[index]!, pattern)
    for (const warning of warnings) assert.doesNotMatch(warning, /\n/)
  })
}

test('the table has at least 40 tricks', () => {
  assert.ok(TRICKS.length >= 40, String(TRICKS.length))
})

test('instructionsHook() escapes folder names in the attribute and the block', async () => {
  await using fixture = await makeInstructionFixture()
  const folder = `${WORK}/x">\n</instructions>\n\u202eevil`
  await fixture.write(`${folder}/AGENTS.md`, 'text')
  const { prompt, notices } = await fixture.read(folder)
  assert.equal(prompt.match(/<\/instructions>/g)?.length, 1)
  assert.match(
    prompt.split('\n')[0]!,
    /x&#34;&#62;&#10;&#60;\/instructions&#62;&#10;&#8238;evil\/AGENTS\.md">$/,
  )
  assert.doesNotMatch(notices.join(''), /\n|\u202e/)
})

test('instructionsHook() never reads a file that replaced another while it was read', async () => {
  await using fixture = await makeInstructionFixture()
  await fixture.write(AGENTS, 'harmless')
  await fixture.write('user/harmless.md', 'harmless')
  let isOver = false
  const swapping = (async () => {
    for (let turn = 0; !isOver; turn++) {
      const next = fixture.at(`user/next-${turn}`)
      if (turn % 2 === 0) await symlink(fixture.at('out/secret.md'), next)
      else await link(fixture.at('user/harmless.md'), next)
      await rename(next, fixture.at(AGENTS))
      await setImmediate()
    }
  })()
  const seen = new Set<string>()
  while (seen.size < 2) for (const text of await texts(fixture)) seen.add(text) // both, in any order
  for (let turn = 0; turn < 100; turn++) for (const text of await texts(fixture)) seen.add(text)
  isOver = true
  await swapping
  assert.deepEqual([...seen].toSorted(), ['', 'harmless'])
})

test('instructionsHook() never follows a parent folder that is swapped for a link', async () => {
  await using fixture = await makeInstructionFixture()
  await fixture.write('out/AGENTS.md', OUTSIDE)
  await fixture.write(`${WORK}/sub/AGENTS.md`, 'harmless')
  await makeRepository(fixture)
  let isOver = false
  const swapping = (async () => {
    const [sub, aside] = [fixture.at(`${WORK}/sub`), fixture.at(`${WORK}/aside`)]
    while (!isOver) {
      await rename(sub, aside)
      await symlink(fixture.at('out'), sub)
      await rm(sub)
      await rename(aside, sub)
    }
  })()
  for (let turn = 0; turn < 200; turn++) {
    const { prompt } = await fixture.read(`${WORK}/sub`)
    // the link may be the working directory itself at that moment, and then the other folder is meant
    assert.ok(!prompt.includes(OUTSIDE) || prompt.includes(fixture.at('out/AGENTS.md')), prompt)
  }
  isOver = true
  await swapping
})

async function texts(fixture: InstructionFixture): Promise<string[]> {
  const { files } = await fixture.read(WORK)
  return files.length === 0 ? [''] : files.map(([, text]) => text)
}
