import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { AgentConfig } from '../../../src/core/config/agent-schema.ts'
import { defaultAgent } from '../../../src/core/config/default-agent.ts'
import { Components } from '../../../src/daemon/components/components.ts'
import { type TemporaryHome, temporaryHome } from '../../support/temporary-home.ts'

test('an agent gets the components it asks for after its own servers', async () => {
  await using home = await withFiles()
  const components = new Components(home.paths.run)
  const own = { name: 'own', command: 'x' }
  assert.deepEqual(joinedNames(components, { mcps: [own] }), ['own'])
  assert.deepEqual(joinedNames(components, { components: false }), [])
  assert.deepEqual(joinedNames(components, { components: [] }), [])
  assert.deepEqual(joinedNames(components, { components: true, mcps: [own] }), ['own', 'clock', 'web-search'])
  assert.deepEqual(joinedNames(components, { components: ['clock', 'none'] }), ['clock'])
})

test("an agent's server replaces a component of the same name, also where only - and _ differ", async () => {
  await using home = await withFiles()
  const components = new Components(home.paths.run)
  const own = { name: 'web_search', command: 'x' }
  const agent = components.join(agentWith({ components: true, mcps: [own] }))
  assert.deepEqual(
    agent.mcps.map(({ name, command }) => [name, command]),
    [
      ['web_search', 'x'],
      ['clock', undefined],
    ],
  )
})

test('joining again changes nothing, and a component leaves with its file', async () => {
  await using home = await withFiles()
  const components = new Components(home.paths.run)
  const once = components.join(agentWith({ components: true }))
  assert.deepEqual(components.join(once), once)
  await rm(join(home.paths.run, 'clock.port'))
  components.readAgain()
  assert.deepEqual(
    components.join(once).mcps.map(({ name }) => name),
    ['web-search'],
  )
})

test('missing() lists the components that an agent asks for but that do not exist', async () => {
  await using home = await withFiles()
  const components = new Components(home.paths.run)
  const broken = { name: 'broken', file: 'run/broken.port', problem: 'it does not hold a port number' }
  const none = { name: 'none', file: 'run/none.port', problem: 'the file does not exist' }
  assert.deepEqual(components.missing(agentWith({})), [])
  assert.deepEqual(components.missing(agentWith({ components: true })), [broken])
  assert.deepEqual(components.missing(agentWith({ components: ['clock', 'none'] })), [none])
  assert.deepEqual(components.broken, [broken])
})

test('readAgain() reports new, removed and rewritten files, also on repeated reads', async () => {
  await using home = await withFiles()
  const components = new Components(home.paths.run)
  assert.deepEqual(joinedNames(components, { components: true }), ['clock', 'web-search'])
  const changes: (readonly string[])[] = []
  using _listening = components.listen((changed) => changes.push(changed))
  components.readAgain()
  components.readAgain()
  assert.deepEqual(changes, [['broken', 'clock', 'web-search']])
  await rm(join(home.paths.run, 'clock.port'))
  await rm(join(home.paths.run, 'web-search.port'))
  await home.write('run/web-search.port', '4321\n')
  await home.write('run/new.port', '1234\n')
  components.readAgain()
  assert.deepEqual(changes[1], ['clock', 'web-search', 'new'])
  assert.deepEqual(
    components.discovery.mcps.map(({ name }) => name),
    ['new', 'web-search'],
  )
})

async function withFiles(): Promise<TemporaryHome> {
  const home = await temporaryHome()
  await home.write('run/clock.port', '41000\n')
  await home.write('run/web-search.port', '41001\n')
  await home.write('run/broken.port', 'x')
  return home
}

function agentWith(more: Partial<AgentConfig>): AgentConfig {
  return { ...defaultAgent(), ...more }
}

function joinedNames(components: Components, more: Partial<AgentConfig>): string[] {
  return components.join(agentWith(more)).mcps.map(({ name }) => name)
}
