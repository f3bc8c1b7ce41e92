import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/core/base/message.ts'
import { checkAgent, foldName, nameProblem } from '../../../src/core/config/agent-schema.ts'

const DEFAULTS = { description: '', max_iterations: 100, thinking: false, skills: [], tools: [], mcps: [] }

function messages(table: JsonObject): string[] {
  const outcome = checkAgent(table)
  return outcome.ok
    ? []
    : outcome.problems.map(({ message, hint }) => (hint ? `${message} (${hint})` : message))
}

test('checkAgent() fills an empty table with defaults', () => {
  assert.deepEqual(checkAgent({}), { ok: true, value: DEFAULTS })
})

test('checkAgent() accepts what existing clients write, and drops keys without meaning', () => {
  const outcome = checkAgent({
    model: '',
    tool_choice: 'auto',
    compact_tool_max_len: 1024,
    compact_threshold: 1,
    hooks: { bash: { disabled: false } },
    mcps: [
      { name: 'a', command: 'x', args: [], env: {}, auto_restart: true, url: null, auth: null },
      { name: 'b', command: '', url: 'http://localhost', auth: '', tool_choice: 'x' },
    ],
  })
  assert.deepEqual(outcome, {
    ok: true,
    value: {
      ...DEFAULTS,
      tool_choice: 'auto',
      mcps: [
        { name: 'a', command: 'x' },
        { name: 'b', url: 'http://localhost' },
      ],
    },
  })
})

test('restrictions in the hooks of existing clients become rules, and are never dropped', () => {
  const denied = (hooks: unknown, more: JsonObject = {}) => {
    const outcome = checkAgent({ ...more, hooks } as JsonObject)
    return outcome.ok ? outcome.value.permissions?.deny : 'refused'
  }
  assert.deepEqual(denied({ bash: { disabled: true, deny: [] } }), ['bash'])
  assert.deepEqual(denied({ bash: { deny: ['rm', '.ssh', 'git push', '~/x'] } }), [
    'bash(*rm*)',
    'bash(*.ssh*)',
    'bash(*git push*)',
    "bash(*'~/x'*)",
  ])
  assert.deepEqual(denied({ bash: { disabled: true } }, { permissions: { deny: ['read(.env)', 'bash'] } }), [
    'read(.env)',
    'bash',
  ])
  assert.deepEqual(denied({ bash: { deny: [''] } }), ['bash'])
  assert.equal(denied({ bash: { disabled: false, deny: [] }, memory: { recall_limit: 5 } }), undefined)
  assert.equal(denied(null), undefined)
  for (const hooks of [
    { bash: { allow: ['ls'] } },
    { bash: { deny: ['a | b'] } },
    { bash: { deny: ['$HOME'] } },
    { bash: { deny: 'a; b' } },
    { bash: { disabled: 'yes' } },
    { bash: true },
    { os: { disabled: true } },
    'bash',
  ]) {
    assert.equal(denied(hooks), 'refused', JSON.stringify(hooks))
  }
  assert.deepEqual(messages({ hooks: { bash: { allow: ['ls'] } } }), [
    'unknown key "hooks" (write what it restricts as rules: deny = ["bash"] or deny = ["bash(rm *)"] in [permissions])',
  ])
  assert.equal(
    checkAgent({ mcps: [{ name: 'a', command: 'x', hooks: { bash: { disabled: true } } }] }).ok,
    false,
  )
})

for (const [name, table, expected] of [
  [
    'names of servers in place of servers, with other problems',
    { mcps: ['github'], modle: 'x' },
    [
      '"mcps" names servers of a registry; an agent holds its servers itself, as [[mcps]] tables (crabtalk writes them into the file when it starts or reloads)',
      'unknown key "modle" (did you mean "model"?)',
    ],
  ],
  ['the name', { name: 'x' }, ['unknown key "name" (the name of an agent is the name of its file)']],
  [
    'a key that every object has',
    JSON.parse('{"__proto__": {"a": 1}}'),
    [
      'unknown key "__proto__" (the keys are components, description, effort, id, max_iterations, mcps, mode, model, permissions, skills, thinking, tool_choice, tools)',
    ],
  ],
  ['the prompt', { prompt: 'x' }, ['unknown key "prompt" (the prompt is the .md file beside this one)']],
  ['an invalid id', { id: 'me' }, ['"id" must be an id that crabtalk wrote: a ULID']],
  ['no iterations', { max_iterations: 0 }, ['"max_iterations" must be at least 1']],
  [
    'servers whose tools would have one name',
    {
      mcps: [
        { name: 'a-b', command: 'x' },
        { name: 'a_b', command: 'y' },
      ],
    },
    ['"mcps[1].name" is taken by mcps[0]'],
  ],
  [
    'an invalid server, with its position',
    { mcps: [{ name: 'a', command: 'x' }, { name: 'b' }] },
    ['"mcps[1]" needs "command" (a program) or "url" (a remote server)'],
  ],
] as [string, JsonObject, string[]][]) {
  test(`checkAgent() rejects ${name}`, () => {
    assert.deepEqual(messages(table), expected)
  })
}

for (const name of [
  'crab',
  '3d',
  'Ångström',
  '日本語',
  'a_b-c',
  'x'.repeat(64),
  'e\u0301tude',
  '𠮷'.repeat(50),
]) {
  test(`"${name}" is a valid agent name`, () => assert.equal(nameProblem(name), undefined))
}

const RULE = 'a name is 1 to 64 letters, digits, _ or -, and starts with a letter or digit'

for (const [name, problem] of [
  ['', RULE],
  ['_a', RULE],
  ['-a', RULE],
  ['a b', RULE],
  ['a/b', RULE],
  ['..', RULE],
  ['a.b', RULE],
  ['a\n', RULE],
  ['a:b', RULE],
  ['x'.repeat(65), RULE],
  ['𠮷'.repeat(60), 'the name is too long for a file'],
] as const) {
  test(`${JSON.stringify(name)} is not a valid agent name`, () => assert.equal(nameProblem(name), problem))
}

test('foldName() maps the spellings of one name to one text', () => {
  assert.equal(foldName('E\u0301tude'), foldName('étude'))
})
