import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readForeignEntries } from '../../../src/edge/import/foreign-entry.ts'
import type { ForeignFile } from '../../../src/edge/import/foreign-file.ts'
import { planImport } from '../../../src/edge/import/import-plan.ts'

const one = (command: string) => ({ command })

function planAll(files: readonly ForeignFile[]) {
  const facts = { agent: 'crab', existing: [], names: [], cwd: '/p/src', homeDir: '/home/me' }
  return planImport(files, { ...facts, find: async () => undefined, stored: async () => undefined })
}

function toFile(path: string, content: object, place: Partial<ForeignFile> = {}): ForeignFile {
  return { path, ...place, entries: readForeignEntries(JSON.stringify(content)) }
}

test('planImport() prefers the servers that Claude Code uses in a folder to those of the user', async () => {
  const user = toFile(
    '/home/me/.claude.json',
    {
      mcpServers: { github: one('user'), notes: one('notes') },
      projects: {
        '/p': { mcpServers: { github: one('outer') } },
        '/p/src': { mcpServers: { github: one('inner') } },
        '/q': { mcpServers: { other: one('other') } },
      },
    },
    { kind: 'claude' },
  )
  const { servers, skipped, notices } = await planAll([user])
  assert.deepEqual(
    servers.map(({ entry }) => [entry.name, entry.command]),
    [
      ['github', 'inner'],
      ['notes', 'notes'],
    ],
  )
  const why = 'Claude Code uses the other github in this folder, which is imported'
  assert.deepEqual(
    skipped.map((each) => each.why),
    [why, why],
  )
  assert.deepEqual(
    notices.map(({ text }) => text),
    ['servers of other folders are left out: /q'],
  )
})

test('planImport() leaves out the .mcp.json of a project, which sessions read, unless the user names it', async () => {
  const content = { mcpServers: { github: one('project') } }
  const own = toFile('/p/.mcp.json', content, { kind: 'claude', project: '/p' })
  const user = toFile('/home/me/.claude.json', { mcpServers: { github: one('user') } }, { kind: 'claude' })
  const { servers, skipped } = await planAll([own, user])
  assert.deepEqual(
    skipped.map(({ why }) => why),
    ['crabtalk reads this file itself after crabtalk trust; --from FILE copies it'],
  )
  assert.deepEqual(
    servers.map(({ entry, notices }) => [entry.command, notices]),
    [['user', ['github of /p/.mcp.json is not used while an agent has one of that name']]],
  )
  assert.equal((await planAll([toFile('/p/.mcp.json', content)])).servers.length, 1)
})
