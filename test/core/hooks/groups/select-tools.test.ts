import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MAX_SELECTED_TOOLS } from '../../../../src/core/base/tool-limits.ts'
import { selectTools } from '../../../../src/core/hooks/groups/select-tools.ts'
import { ToolCatalog } from '../../../../src/core/hooks/groups/tool-catalog.ts'
import { SelectedTools } from '../../../../src/core/runtime/selected-tools.ts'
import { READ, remoteSpec, remoteSpecs, toolGroup } from '../../../support/fake-tools.ts'
import { propertyRuns } from '../../../support/property-runs.ts'

const SPECS = [
  ...remoteSpecs('web', 30),
  ...remoteSpecs('db', 10),
  remoteSpec('hub', 'merge', 'x'.repeat(999)),
]
const GROUPS = [
  { id: 'files', title: 'Files', description: 'Read', tools: ['read'] },
  toolGroup('web', SPECS),
  toolGroup('db', SPECS, { instructions: 'Commit when you are done.' }),
  toolGroup('hub', SPECS),
]

test('selectTools() selects a group in one call and says what it contains', () => {
  const { select, names, offers } = conversation()
  assert.deepEqual(select({ group: 'mcp:db' }), {
    selected: SPECS.slice(30, 40).map(({ name, description }) => ({ name, description })),
    groups: [
      {
        id: 'mcp:db',
        title: 'db',
        description: 'About db',
        instructions: 'Commit when you are done.',
        members: GROUPS[2]!.tools,
      },
    ],
    note: 'Call what is selected from your next step on',
  })
  assert.deepEqual(names(), GROUPS[2]!.tools)
  assert.equal(offers(), 1)
})

test('selectTools() selects by name, bare or full, each once, with groups and siblings', () => {
  const { select, names } = conversation()
  const result = select({ tools: ['mcp__hub__merge', 'merge', ' mcp__db__tool_03 '] })
  assert.deepEqual(names(), ['mcp__hub__merge', 'mcp__db__tool_03'])
  assert.deepEqual(
    result.groups.map(({ id, members }: { id: string; members: string[] }) => [id, members.length]),
    [
      ['mcp:hub', 1],
      ['mcp:db', 10],
    ],
  )
  assert.match(result.selected[0].description, /^x{299}…$/)
})

test('selectTools() selects the first tools of a group that is too large, and names the others', () => {
  const { select, names } = conversation(['mcp__db__tool_00'])
  const result = select({ group: 'mcp:web' })
  assert.deepEqual(names(), GROUPS[1]!.tools.slice(0, MAX_SELECTED_TOOLS))
  assert.deepEqual(result.not_selected, GROUPS[1]!.tools.slice(MAX_SELECTED_TOOLS))
  assert.deepEqual(result.left, ['mcp__db__tool_00'])
  assert.match(result.note, /At most 24 are selected at a time: name those you need/)
})

test('selectTools() says which tools it removed: the longest unused that still exist', () => {
  const before = ['mcp__gone__x', ...GROUPS[1]!.tools.slice(0, MAX_SELECTED_TOOLS - 1)]
  const { select, names } = conversation(before)
  const result = select({ tools: ['mcp__db__tool_00', 'mcp__db__tool_01'] })
  assert.deepEqual(result.left, ['mcp__web__tool_00'])
  assert.match(result.note, /The tools unused for longest were dropped/)
  assert.equal(names().length, MAX_SELECTED_TOOLS)
})

test('selectTools() says that built-in tools are always available', () => {
  const { select, names, offers } = conversation()
  const result = select({ group: 'files' })
  assert.deepEqual([result.selected, result.always_there, names()], [[], ['read'], []])
  assert.equal(offers(), 0)
})

test('selectTools() selects nothing for an unknown name, and suggests the nearest', () => {
  const wrong = [
    [{ group: 'mcp:wab' }, /the group mcp:wab: it does not exist$/, 'did you mean "mcp:web"?'],
    [{ group: 'dbb' }, /the group dbb: it does not exist$/, 'did you mean "mcp:db"?'],
    [{ group: 'zzzzzzzzzz' }, /it does not exist$/, 'tools_groups lists the groups'],
    [
      { tools: ['mcp__db__tol_02'] },
      /^Cannot select mcp__db__tol_02 \(did you mean "mcp__db__tool_02"\?\): no tool has that name, and nothing was selected$/,
      'tools_search finds tools by name and description',
    ],
    [
      { tools: ['merg', '?'] },
      /merg \(did you mean "mcp__hub__merge"\?\), \?: no tools have these names/,
      undefined,
    ],
  ] as const
  for (const [args, message, hint] of wrong) {
    const { run, names, offers } = conversation()
    assert.throws(() => run(args), { kind: 'invalid', message, ...(hint && { hint }) })
    assert.deepEqual([names(), offers()], [[], 0])
  }
})

test('selectTools() selects the names that exist, and reports the others with the nearest', () => {
  const { select, names, offers } = conversation()
  const result = select({ group: 'mcp:wab', tools: ['mcp__db__tool_01', 'mcp__db__tol_02', '?'] })
  assert.deepEqual(names(), ['mcp__db__tool_01'])
  assert.deepEqual(result.unknown, [
    { name: 'mcp__db__tol_02', did_you_mean: 'mcp__db__tool_02' },
    { name: '?' },
  ])
  assert.deepEqual(result.unknown_group, { id: 'mcp:wab', did_you_mean: 'mcp:web' })
  assert.equal(offers(), 1)
  select({ group: 'mcp:db', tools: ['nothing'] })
  assert.equal(names().length, 10)
})

test('selectTools() takes names and ids in any case, and a server by its name', () => {
  const { select, names } = conversation()
  select({ tools: ['MCP__Hub__Merge', 'mErGe'] })
  assert.deepEqual(names(), ['mcp__hub__merge'])
  select({ group: 'MCP:DB' })
  select({ group: 'Db' })
  assert.deepEqual(names(), ['mcp__hub__merge', ...GROUPS[2]!.tools])
  const twins = new ToolCatalog([remoteSpec('a', 'get'), remoteSpec('a', 'Get')], [])
  assert.equal(twins.findAnyCase('GET'), undefined, 'it could be either')
  assert.equal(twins.findAnyCase('Get')?.name, 'mcp__a__Get')
})

test('selectTools() rejects empty names, and accepts common variants', () => {
  const { run, select, names } = conversation()
  for (const args of [{}, { group: '' }, { group: null, tools: [] }, { tools: [''] }, { tools: [7] }])
    assert.throws(() => run(args), {
      kind: 'invalid',
      message: /^Cannot select tools: .*(it takes|pass) \{"group":"…"\}/,
    })
  select({ group: '', tools: 'mcp__hub__merge' })
  select({ group: null, tools: ['mcp__db__tool_00'] })
  assert.deepEqual(names(), ['mcp__hub__merge', 'mcp__db__tool_00'])
})

test('selectTools() never exceeds the limit, and is deterministic', () => {
  const name = fc.constantFrom(...SPECS.map((spec) => spec.name))
  const call = fc.record({
    group: fc.constantFrom(undefined, 'mcp:web', 'mcp:db', 'mcp:hub'),
    tools: fc.array(name, { minLength: 1, maxLength: 40 }),
  })
  fc.assert(
    fc.property(fc.array(call, { maxLength: 8 }), (calls) => {
      const [a, b] = [conversation(), conversation()]
      for (const args of calls) {
        const before = a.names()
        const result = a.select(args)
        assert.deepEqual(b.select(args), result)
        assert.ok(a.names().length <= MAX_SELECTED_TOOLS)
        const gone = before.filter((one) => !a.names().includes(one))
        assert.deepEqual(result.left ?? [], gone)
      }
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

test('selectTools() suggests names for a limited number of unknown ones, and truncates long ones', () => {
  const requests: string[] = []
  const catalog = new ToolCatalog([READ, ...SPECS], GROUPS)
  const nearest = catalog.nearest.bind(catalog)
  catalog.nearest = (name) => {
    requests.push(name)
    return nearest(name)
  }
  const tools = Array.from({ length: 500 }, (_, n) => `${n}${'x'.repeat(5_000)}`)
  const args = { tools }
  const call = () => selectTools({ args, offerAgain() {} }, { catalog, selection: new SelectedTools([]) })
  assert.throws(call, ({ message }: Error) => {
    assert.match(message, / and 490 more: no tools have these names/)
    assert.ok(message.length < 2_000, String(message.length))
    return true
  })
  assert.equal(requests.length, 10)
})

test('selectTools() describes as many groups of the selected tools as are useful', () => {
  const specs = Array.from({ length: 30 }, (_, n) => remoteSpecs(`s${n}`, 10)).flat()
  const groups = Array.from({ length: 30 }, (_, n) => toolGroup(`s${n}`, specs))
  const catalog = new ToolCatalog([READ, ...specs], groups)
  const select = (tools: string[]) => {
    const selection = new SelectedTools([])
    return JSON.parse(selectTools({ args: { tools }, offerAgain() {} }, { catalog, selection }).output)
  }
  const all = select(specs.map(({ name }) => name))
  const listGroupIds = ({ groups }: { groups: { id: string }[] }) => groups.map(({ id }) => id)
  assert.deepEqual(listGroupIds(all), ['mcp:s0', 'mcp:s1', 'mcp:s2'])
  assert.deepEqual([all.not_selected.length, all.more_not_selected], [200, 76])
  const wide = select(groups.map(({ tools }) => tools[0]!))
  assert.equal(listGroupIds(wide).length, 8)
})

/** Returns a conversation with these selected tools, of an agent with the tools above. */
function conversation(before: readonly string[] = []) {
  const catalog = new ToolCatalog([READ, ...SPECS], GROUPS)
  const selection = new SelectedTools(before)
  let offers = 0
  const run = (args: Record<string, unknown>) => {
    const { output, isError } = selectTools({ args, offerAgain: () => offers++ }, { catalog, selection })
    assert.equal(isError, false)
    return JSON.parse(output)
  }
  return { run, select: run, names: () => [...selection.names], offers: () => offers }
}
