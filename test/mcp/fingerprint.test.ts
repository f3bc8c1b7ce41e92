import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import type { McpEntry } from '../../src/core/config/mcp-entry.ts'
import { canonicalJson, computeFingerprint, toTarget } from '../../src/mcp/fingerprint.ts'
import { propertyRuns } from '../support/property-runs.ts'

const DEFAULTS = { home: '/home/me/.crabtalk', baseEnv: {} }
const OWNER = { agentId: '01J0000000000000000000CRAB', name: 'fs' }
const ENTRY: McpEntry = { name: 'fs', command: 'npx', args: ['-y', 'fs', '/a'], env: { A: '1', B: '2' } }

test('computeFingerprint() is the SHA-256 of the canonical JSON of what is started', () => {
  const json = `{"args":["-y","fs","/a"],"command":"npx","cwd":"/home/me/.crabtalk","env":{"A":"1","B":"2"},"transport":"stdio"}`
  assert.equal(fingerprint(ENTRY), createHash('sha256').update(json).digest('hex'))
})

const SAME: Record<string, McpEntry> = {
  'another name': { ...ENTRY, name: 'files' },
  'filters and permissions': { ...ENTRY, include: ['a'], exclude: ['b'], permissions: { allow: ['*'] } },
  'limits and starts': {
    ...ENTRY,
    ...{
      start: 'lazy',
      required: true,
      idle_timeout_ms: 5,
      startup_timeout_ms: 5,
      timeout_ms: 5,
      output_limit: 5,
    },
  },
  'keys in another order': { env: { B: '2', A: '1' }, args: ENTRY.args!, command: 'npx', name: 'fs' },
  'the default directory written out': { ...ENTRY, cwd: '/home/me/.crabtalk' },
  'the default share = true written out': { ...ENTRY, share: true },
}
for (const [what, entry] of Object.entries(SAME)) {
  test(`computeFingerprint() does not change with ${what}`, () => {
    assert.equal(fingerprint(entry), fingerprint(ENTRY))
  })
}

const OTHER: Record<string, McpEntry> = {
  'another command': { ...ENTRY, command: 'uvx' },
  'another argument': { ...ENTRY, args: ['-y', 'fs', '/b'] },
  'arguments in another order': { ...ENTRY, args: ['fs', '-y', '/a'] },
  'one other value in env': { ...ENTRY, env: { A: '1', B: '3' } },
  'one more name in env': { ...ENTRY, env: { A: '1', B: '2', C: '' } },
  'another directory': { ...ENTRY, cwd: '/tmp' },
}
for (const [what, entry] of Object.entries(OTHER)) {
  test(`computeFingerprint() changes with ${what}`, () => {
    assert.notEqual(fingerprint(entry), fingerprint(ENTRY))
  })
}

const REMOTE: McpEntry = { name: 'r', url: 'https://a.example/mcp', headers: { X: '1' }, auth: 'Bearer t' }
for (const [what, change] of Object.entries<Partial<McpEntry>>({
  url: { url: 'https://b.example/mcp' },
  headers: { headers: { X: '2' } },
  auth: { auth: 'Bearer u' },
  auth_helper: { auth_helper: ['helper'] },
  transport: { transport: 'sse' },
})) {
  test(`computeFingerprint() changes with the ${what} of a remote server`, () => {
    assert.notEqual(fingerprint({ ...REMOTE, ...change }), fingerprint(REMOTE))
  })
}

test("computeFingerprint() of an entry that is not shared contains its owner: the agent's id and the server's name", () => {
  const own = { ...ENTRY, share: false }
  const fingerprintOwned = (owner: typeof OWNER) => computeFingerprint(toTarget(own, DEFAULTS), own, owner)
  assert.notEqual(fingerprintOwned(OWNER), fingerprint(ENTRY))
  assert.equal(fingerprintOwned(OWNER), fingerprintOwned({ ...OWNER }))
  assert.notEqual(
    fingerprintOwned(OWNER),
    fingerprintOwned({ ...OWNER, agentId: '01J0000000000000000000KRAB' }),
  )
  assert.notEqual(fingerprintOwned(OWNER), fingerprintOwned({ ...OWNER, name: 'files' }))
})

test('toTarget() lays [env] of config.toml under the env of a program', () => {
  const target = toTarget(ENTRY, { ...DEFAULTS, baseEnv: { A: 'base', Z: 'base' } })
  assert.deepEqual(target, {
    transport: 'stdio',
    command: 'npx',
    args: ['-y', 'fs', '/a'],
    env: { A: '1', B: '2', Z: 'base' },
    cwd: '/home/me/.crabtalk',
  })
})

test('canonicalJson() returns one text for all orders of keys, and loses no key', () => {
  const tables = fc.dictionary(fc.string(), fc.jsonValue())
  fc.assert(
    fc.property(tables, (table) => {
      const reversed = Object.fromEntries(Object.entries(table).toReversed())
      assert.equal(canonicalJson(reversed), canonicalJson(table))
      assert.deepEqual(JSON.parse(canonicalJson(table)), JSON.parse(JSON.stringify(table)))
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

function fingerprint(entry: McpEntry): string {
  return computeFingerprint(toTarget(entry, DEFAULTS), entry, OWNER)
}
