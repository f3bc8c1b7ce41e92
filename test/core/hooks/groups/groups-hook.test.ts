import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAX_SELECTED_TOOLS, MAX_SHOWN_MCP_TOOLS } from '../../../../src/core/base/tool-limits.ts'
import { groupsHook } from '../../../../src/core/hooks/groups/groups-hook.ts'
import { GROUP_TOOLS } from '../../../../src/core/hooks/groups/specs.ts'
import { ToolCatalog } from '../../../../src/core/hooks/groups/tool-catalog.ts'
import type { ToolSpec } from '../../../../src/core/provider/types.ts'
import type { Hook, ToolGroup, ToolOutput, ToolsTurn } from '../../../../src/core/runtime/hook.ts'
import { SelectedTools } from '../../../../src/core/runtime/selected-tools.ts'
import { toolsByName } from '../../../../src/core/runtime/tool-calls.ts'
import { AGENT } from '../../../support/agents.ts'
import { toolDispatch } from '../../../support/dispatches.ts'
import { READ, remoteSpec, remoteSpecs, toolGroup, toolsHook } from '../../../support/fake-tools.ts'

const NEVER = new AbortController().signal
const GUIDES = ['tools_groups', 'tools_select', 'tools_search']
const SIXTY = [...remoteSpecs('web', 30), ...remoteSpecs('db', 30)]

test('groupsHook() shows an agent all MCP tools up to the limit, and groups beyond it', async () => {
  const few = [READ, ...remoteSpecs('web', MAX_SHOWN_MCP_TOOLS)]
  assert.deepEqual(await at(toolsHook(few)).names(), toNames(few))
  const many = [READ, ...remoteSpecs('web', MAX_SHOWN_MCP_TOOLS + 1)]
  assert.deepEqual(await at(toolsHook(many)).names(), ['read', ...GUIDES])
})

test('groupsHook() shows groups when the definitions of few tools exceed the budget of tokens', async () => {
  const large = (count: number) => {
    return Array.from({ length: count }, (_, n) => remoteSpec('notes', `page_${n}`, '漢'.repeat(1_000)))
  }
  const few = [READ, ...large(10)] // some 750 tokens each
  assert.deepEqual(await at(toolsHook(few)).names(), toNames(few))
  assert.deepEqual(await at(toolsHook([READ, ...large(11)])).names(), ['read', ...GUIDES])
})

test('groupsHook() keeps tools that were used before there were too many', async () => {
  const specs = [READ, ...remoteSpecs('web', MAX_SHOWN_MCP_TOOLS)]
  const turn = at(toolsHook(specs))
  await turn.offer()
  await turn.call('mcp__web__tool_07')
  await turn.call('read')
  specs.push(remoteSpec('db', 'more'))
  assert.deepEqual(await turn.names(), ['read', ...GUIDES, 'mcp__web__tool_07'])
})

test('groupsHook() puts selected tools after the group tools, in list order, whatever was used last', async () => {
  const turn = at(toolsHook([READ, ...SIXTY]))
  turn.selection.use(['mcp__web__tool_09', 'mcp__db__tool_01', 'mcp__web__tool_02'])
  const selected = ['mcp__web__tool_02', 'mcp__web__tool_09', 'mcp__db__tool_01']
  const first = await turn.offer()
  assert.deepEqual(toNames(first), ['read', ...GUIDES, ...selected])
  turn.selection.use(['mcp__web__tool_09'])
  assert.equal(JSON.stringify(await turn.offer()), JSON.stringify(first))
})

test('groupsHook() counts tools after filters, and shows no filtered tool', async () => {
  const shownNames = toNames(SIXTY).slice(0, MAX_SHOWN_MCP_TOOLS)
  const turn = at(toolsHook([READ, ...SIXTY]), { keeps: ({ name }) => shownNames.includes(name) })
  assert.deepEqual(await turn.names(), shownNames)
  const filtered = at(toolsHook([READ, ...SIXTY]), { keeps: ({ server }) => server !== undefined })
  filtered.selection.use(['read'])
  assert.deepEqual(await filtered.names(), GUIDES)
  assert.doesNotMatch((await filtered.call('tools_search', { query: '*' })).output, /"read"/)
  await assert.rejects(filtered.call('tools_select', { tools: ['read'] }), { kind: 'invalid' })
})

test('groupsHook() shows the tool that the model must call first, and keeps it', async () => {
  for (const toolChoice of ['mcp__db__tool_07', 'only_db']) {
    const specs = [READ, ...SIXTY, remoteSpec('db', 'only_db')]
    const turn = at(toolsHook(specs), { toolChoice })
    const name = toolChoice === 'only_db' ? 'mcp__db__only_db' : toolChoice
    assert.deepEqual(await turn.names(), ['read', ...GUIDES, name])
    assert.deepEqual(turn.selection.names, [name])
  }
  const builtIn = at(toolsHook([READ, ...SIXTY]), { toolChoice: 'read' })
  assert.deepEqual(await builtIn.names(), ['read', ...GUIDES])
})

test('groupsHook() selects nothing for a schema request outside a turn', async () => {
  const hook = groupsHook(toolsHook([READ, ...SIXTY]))
  const offered = await hook.schema!(AGENT, { emit() {}, signal: NEVER })
  assert.deepEqual(toNames(offered), ['read', ...GUIDES])
})

test('groupsHook() delegates calls, and counts them as uses of selected tools', async () => {
  const calls: string[] = []
  const turn = at(toolsHook([READ, ...SIXTY], [], calls))
  turn.selection.use(['mcp__web__tool_01', 'mcp__web__tool_02'])
  await turn.offer()
  assert.equal((await turn.call('mcp__web__tool_01')).output, 'did mcp__web__tool_01')
  await turn.call('read')
  assert.deepEqual(calls, ['mcp__web__tool_01', 'read'])
  assert.deepEqual(turn.selection.names, ['mcp__web__tool_02', 'mcp__web__tool_01'])
})

test('groupsHook() says how to select a tool that exists but was not shown', async () => {
  const turn = at(toolsHook([READ, ...SIXTY]))
  await turn.offer()
  const select = 'Select it first with tools_select {"tools":["mcp__web__tool_01"]}, then call it'
  const refusal = `Cannot call mcp__web__tool_01: it is not selected. ${select}`
  assert.equal(turn.whyNot('mcp__web__tool_01'), refusal)
  assert.equal(turn.whyNot('tool_01'), refusal, 'the server that was declared first has the bare name')
  await turn.call('tools_select', { tools: ['mcp__web__tool_01'] })
  assert.match(turn.whyNot('mcp__web__tool_01') ?? '', /it was selected just now; call it in your next step$/)
  assert.equal(
    turn.whyNot('mcp__web__tol_01'),
    'Cannot call mcp__web__tol_01: no tool has that name; did you mean "mcp__web__tool_01"?',
  )
  assert.match(turn.whyNot('xyz') ?? '', /no tool has that name; tools_search finds tools/)
})

test('groupsHook() shows a turn everything again when its servers have fewer tools', async () => {
  const specs = [READ, ...SIXTY]
  const turn = at(toolsHook(specs))
  await turn.offer()
  specs.splice(3)
  assert.deepEqual(await turn.names(), toNames(specs))
  assert.equal(turn.whyNot('mcp__web__tool_07'), undefined)
})

test('groupsHook() does not confuse a tool with one of another server that has a similar name', async () => {
  const evil = remoteSpec('evil', 'mcp__web__tool_01')
  const turn = at(toolsHook([READ, ...SIXTY, evil]))
  turn.selection.use([evil.name])
  const offered = await turn.offer()
  assert.equal(toolsByName(offered).get('mcp__web__tool_01'), undefined)
  const gone = new ToolCatalog([READ, evil], [])
  assert.equal(gone.find('mcp__web__tool_01'), undefined)
  assert.equal(gone.find(evil.name), evil)
})

test('groupsHook() ignores turns that are shown everything, and turns of others', async () => {
  const few = at(toolsHook([READ]))
  await few.offer()
  assert.equal(few.whyNot('read'), undefined)
  const many = at(toolsHook([READ, ...SIXTY]))
  await many.offer()
  assert.equal(many.hook.whyNot!('mcp__web__tool_01', new AbortController().signal), undefined)
})

test('tools_groups lists groups without schemas: stale members are omitted, one id is one group', async () => {
  const groups = [
    { id: 'files', title: 'Files', description: 'Read', tools: ['read', 'gone'] },
    toolGroup('web', SIXTY, { description: `line\none ${'x'.repeat(400)}` }),
    toolGroup('db', SIXTY.slice(0, 45), { instructions: 'Ask first.' }),
    toolGroup('db', SIXTY.slice(40), { title: 'Twice' }),
    { id: 'mcp:down', title: 'Down', description: 'Nothing is left', tools: ['mcp__down__x'] },
  ]
  const turn = at(toolsHook([READ, ...SIXTY], groups))
  await turn.offer()
  const { output, isError } = await turn.call('tools_groups')
  const listed = JSON.parse(output)
  const { description } = listed.groups[1]
  assert.equal(isError, false)
  assert.deepEqual(listed, {
    groups: [
      { id: 'files', title: 'Files', description: 'Read', member_count: 1 },
      { id: 'mcp:web', title: 'web', description, member_count: 30 },
      { id: 'mcp:db', title: 'db', description: 'About db', member_count: 30, instructions: 'Ask first.' },
    ],
    total_groups: 3,
    total_tools: 61,
    deferred_tools: 60,
  })
  assert.match(description, /^line one x+…$/)
  assert.equal(description.length, 300)
})

test('tools_groups finds groups by words of theirs and of their tools, and counts what is not selected', async () => {
  const specs = [...SIXTY, remoteSpec('hub', 'merge', 'Merges a pull request')]
  const groups = [toolGroup('web', specs), toolGroup('db', specs), toolGroup('hub', specs)]
  const turn = at(toolsHook([READ, ...specs], groups))
  await turn.offer()
  await turn.call('tools_select', { tools: ['merge', 'tool_01'] })
  const find = async (query: unknown) => {
    const { output } = await turn.call('tools_groups', { query })
    const { groups: found, note, ...rest } = JSON.parse(output)
    assert.deepEqual(rest, { total_groups: 3, total_tools: 62, deferred_tools: 59 })
    return [found.map(({ id }: { id: string }) => id), note]
  }
  assert.deepEqual(await find('MERGE request'), [['mcp:hub'], undefined])
  assert.deepEqual(await find('about db'), [['mcp:db'], undefined])
  assert.deepEqual(await find('merge db'), [['mcp:db', 'mcp:hub'], undefined], 'no group has both words')
  assert.deepEqual(await find('zebra'), [
    [],
    'No group has these words: without a query all groups are listed',
  ])
  assert.equal((await find(7))[0].length, 3)
})

test('tools_groups shortens the instructions of servers when there is no room for all', async () => {
  const rules = `Rules: ${'x'.repeat(3_000)}`
  const groups = ['web', 'db'].map((server) => toolGroup(server, SIXTY, { instructions: rules }))
  const introduced: string[] = []
  const list = async (some: ToolGroup[]) => {
    const turn = at(toolsHook([READ, ...SIXTY], some), {}, (server) => introduced.push(server) > 0)
    await turn.offer()
    const result = await turn.call('tools_groups')
    return [JSON.parse(result.output).groups.map((one: ToolGroup) => one.instructions), result.introduces]
  }
  assert.deepEqual(await list(groups), [
    [rules, rules],
    ['web', 'db'],
  ])
  assert.deepEqual(introduced, ['web', 'db'])
  const long = groups.map((group) => ({ ...group, instructions: rules.repeat(2) }))
  const [cut, introduces] = await list(long)
  assert.deepEqual(
    (cut as string[]).map((text) => [text.length, text.endsWith('…')]),
    [
      [300, true],
      [300, true],
    ],
  )
  assert.equal(introduces, undefined)
})

test('tools_groups hides a tool of a server whose name a built-in one has', async () => {
  const taken = { ...READ, name: 'mcp__web__tool_00' } // the composite hook offers the first of two tools with one name
  const specs = [taken, ...SIXTY.slice(1), remoteSpec('db', 'more')]
  const groups = [{ id: 'files', title: '', description: '', tools: [taken.name] }, toolGroup('web', SIXTY)]
  const turn = at(toolsHook(specs, groups))
  await turn.offer()
  const members = JSON.parse((await turn.call('tools_select', { group: 'mcp:web' })).output)
  assert.deepEqual(members.selected.length, MAX_SELECTED_TOOLS)
  assert.ok(!toNames(members.selected).includes(taken.name))
  assert.deepEqual(members.always_there, undefined)
})

test('the group tools are read-only, lead only to tools, and cost less than 900 bytes', () => {
  const wire = GROUP_TOOLS.map(({ name, description, parameters }) => ({
    type: 'function',
    function: { name, description, parameters },
  }))
  assert.ok(Buffer.byteLength(JSON.stringify(wire)) < 900, String(Buffer.byteLength(JSON.stringify(wire))))
  for (const { readOnly, isGuide } of GROUP_TOOLS) assert.deepEqual([readOnly, isGuide], [true, true])
})

interface Turn {
  hook: Hook
  selection: SelectedTools
  offer(): Promise<readonly ToolSpec[]>
  names(): Promise<string[]>
  call(name: string, args?: Record<string, unknown>): Promise<ToolOutput>
  whyNot(name: string): string | undefined
}

/** Returns a turn of a conversation without selected tools. */
function at(
  inner: Hook,
  more: Partial<ToolsTurn> = {},
  introduce: (server: string) => boolean = () => false,
): Turn {
  const hook = groupsHook(inner)
  const over = new AbortController().signal
  const selection = new SelectedTools([])
  const turn: ToolsTurn = { emit() {}, signal: NEVER, turnOver: over, session: 's', selection, ...more }
  return {
    hook,
    selection,
    offer: async () => await hook.schema!(AGENT, turn),
    names: async () => toNames(await hook.schema!(AGENT, turn)),
    call: (name, args = {}) =>
      hook.dispatch!(name, toolDispatch({ args, turnOver: over, introduce }), NEVER)!,
    whyNot: (name) => hook.whyNot!(name, over),
  }
}

function toNames(tools: readonly { name: string }[]): string[] {
  return tools.map(({ name }) => name)
}
