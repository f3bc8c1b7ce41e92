import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TCP_CLIENT } from '../../src/core/policy/trust.ts'
import { SourceKind } from '../../src/core/protocol/crabtalk.generated.ts'
import { request, route } from '../../src/core/protocol/dispatch.ts'
import { type Operation, REPLIES } from '../../src/core/protocol/operations.ts'
import { handlers } from '../../src/daemon/handlers/handlers.ts'
import { startObservedNode } from '../support/observed-node.ts'
import { startTestDispatch } from '../support/test-dispatch.ts'

const NEVER = new AbortController().signal

test('every operation has a handler; only extension is left to the host', async () => {
  await using node = await startTestDispatch([])
  const served = Object.keys(handlers(node.services, 'process')).toSorted()
  const all = (Object.keys(REPLIES) as Operation[]).filter((operation) => operation !== 'extension')
  assert.deepEqual(served, all.toSorted())
})

test('extension is answered by a host that supports it, for local clients only', async () => {
  await using node = await startTestDispatch([])
  const body = Buffer.from('ping')
  await assert.rejects(request(node.dispatch, 'extension', body, NEVER), { kind: 'failed' })
  const extension = async (bytes: Uint8Array) => Buffer.concat([bytes, Buffer.from('!')])
  const host = route(handlers(node.services, 'local', { extension }))
  assert.equal(Buffer.from(await request(host, 'extension', body, NEVER)).toString(), 'ping!')
  const strange = route(handlers(node.services, TCP_CLIENT, { extension }))
  await assert.rejects(request(strange, 'extension', body, NEVER), { kind: 'denied' })
})

test('list_skills returns those of the home and of other programs, and what is wrong with broken ones', async () => {
  await using node = await startObservedNode()
  const text = (name: string) => `---\nname: ${name}\ndescription: x\n---\n`
  await node.home.write('skills/own/SKILL.md', text('own'))
  await node.home.write('.claude/skills/foreign/SKILL.md', text('foreign')) // in tests, the home is also the user's home folder
  await node.home.write('skills/bad/SKILL.md', 'nothing')
  const { skills, problems } = await request(node.dispatch, 'listSkills', {}, NEVER)
  assert.deepEqual(
    skills.map(({ name, source, sourceKind }) => [name, source.split('/').slice(-2).join('/'), sourceKind]),
    [
      ['foreign', 'skills/foreign', SourceKind.EXTERNAL],
      ['own', 'skills/own', SourceKind.LOCAL],
    ],
  )
  assert.deepEqual(
    skills.map(({ description }) => description),
    ['x', 'x'],
  )
  assert.deepEqual(
    problems.map(({ path, line, message }) => [path.split('/').slice(-3).join('/'), line, message]),
    [['skills/bad/SKILL.md', 1, 'it does not start with front matter (---)']],
  )
  await node.home.write('agents/narrow.toml', 'skills = ["own"]\n')
  await node.home.write('agents/narrow.md', 'You are narrow.')
  const narrow = await request(node.dispatch, 'listSkills', { agent: 'narrow' }, NEVER)
  assert.deepEqual(
    narrow.skills.map(({ name }) => name),
    ['own'],
  )
  await assert.rejects(request(node.dispatch, 'listSkills', { agent: 'nobody' }, NEVER), { kind: 'missing' })
})
