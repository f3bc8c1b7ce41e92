import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { openCatalogPort } from '../../../src/commands/chat/catalog.ts'
import { openSessionServers } from '../../../src/commands/chat/session-servers.ts'
import type { JsonObject } from '../../../src/core/base/message.ts'
import { renderToml } from '../../../src/core/config/toml-render.ts'
import { McpPeer } from '../../../src/core/protocol/crabtalk.generated.ts'
import { renderOverlay } from '../../../src/tui/overlays/overlay.ts'
import { mcpPanel } from '../../../src/tui/slash/mcp-panel.ts'
import { onChosen, runSlash } from '../../../src/tui/slash/run.ts'
import { scriptedServer } from '../../support/mcp/http/scripted-server.ts'
import { startMcpNode } from '../../support/mcp/mcp-node.ts'
import { entriesToml, misbehavingEntry, watchedServer } from '../../support/mcp/mcp-servers.ts'
import { recordFolder } from '../../support/mcp/record-folder.ts'
import { makeTestHost } from '../../support/test-host.ts'
import { createSlashChat, type SlashChat } from './slash-chat.ts'

const NEVER = new AbortController().signal
const VIEW = { columns: 120, rows: 24, color: false, details: false }

test('/mcp shows one row for a server that several agents share, and its keys perform their actions', async () => {
  await using records = await recordFolder()
  await using node = await startMcpNode([])
  const server = watchedServer(records.path, { tools: ['few'] }, { name: 'one' })
  for (const name of ['crab', 'owl']) {
    const id = name === 'crab' ? '01JZZZZZZZZZZZZZZZZZZZZZZZ' : '01JZZZZZZZZZZZZZZZZZZZZZZY'
    await node.home.write(`agents/${name}.toml`, `id = "${id}"\n\n${entriesToml(server.entry)}`)
  }
  const chat = createSlashChat(node.dispatch)
  await runSlash('/mcp', chat.context, NEVER)
  assert.deepEqual(row(chat), { SERVER: 'one', STATE: 'idle', AGENTS: '2 agents', TOOLS: '-' })

  await press(chat, 'p')
  assert.match(panel(chat).note, /^one answers in \d+ ms, connected in \d+ ms$/)
  assert.deepEqual(row(chat), { SERVER: 'one', STATE: 'connected', AGENTS: '2 agents', TOOLS: '2' })
  assert.equal(panel(chat).title, 'MCP servers: 1 connection, 2 agents')

  await press(chat, 'r')
  assert.equal(panel(chat).note, 'restarted one with 2 tools')
  assert.equal(server.starts().length, 2)

  await press(chat, 't')
  const tools = chat.state().overlay
  assert.ok(tools?.kind === 'page')
  assert.match(tools.text, /mcp__one__echo {2,}ask · no rule/)
  assert.equal(tools.back?.kind, 'panel')
  chat.context.act({ type: 'set', change: { overlay: tools.back } })

  assert.deepEqual(
    panel(chat).keys.flatMap(({ key, confirm }) => (confirm ? [key, confirm] : [])),
    ['d', "disable it in the agent's file"],
  )
  await press(chat, 'd')
  assert.match(panel(chat).note, /one of crab is disabled/)
  const file = () => readFile(join(node.home.paths.home, 'agents/crab.toml'), 'utf8')
  assert.match(await file(), /disabled = true/)
  assert.equal(row(chat)['STATE'], 'disabled, running')
  await press(chat, 'e')
  assert.doesNotMatch(await file(), /disabled = true/)
})

test('/mcp view says who decided about each server, and v shows one of them', async () => {
  await using one = await makeTestHost({ env: { CRABTALK_HOME: 'home', XDG_CONFIG_HOME: '' } })
  await using node = await startMcpNode([])
  const own = misbehavingEntry({ tools: ['few'] }, { name: 'one' })
  const off = { ...own, name: 'off', disabled: true }
  await node.home.write('agents/crab.toml', `id = "01JZZZZZZZZZZZZZZZZZZZZZZZ"\n\n${entriesToml(own, off)}`)
  await mkdir(join(one.folder, '.crabtalk'))
  await writeFile(join(one.folder, '.crabtalk/mcp.toml'), '[server.docs]\ncommand = "true"\n')
  const chat = createSlashChat(node.dispatch)
  const { dispatch } = node
  const cwd = () => one.folder
  for (const isOff of [true, false]) {
    const servers = openSessionServers({ host: one.host, dispatch, isOff, cwd })
    const context = { ...chat.context, ports: { ...chat.context.ports, servers } }
    await runSlash('/mcp view', context, NEVER)
    const { title, text } = page(chat)
    if (isOff) assert.match(title, /^MCP servers of crab: none: --no-mcp turns them off/)
    else {
      assert.match(title, /^MCP servers of crab: only one of its own 2 servers \(generation \d+\)$/)
      assert.match(
        text,
        /\noff\n {2}state +disabled\n {2}used +no: disabled = true in agents\/crab\.toml:\d+\n/,
      )
      assert.match(text, /\ndocs\n {2}state +untrusted\n {2}used +no: not trusted: /)
    }
  }
  const servers = openSessionServers({ host: one.host, dispatch, isOff: false, cwd })
  chat.context = { ...chat.context, ports: { ...chat.context.ports, servers } }
  await runSlash('/mcp', chat.context, NEVER)
  await press(chat, 'v')
  const { title, text, back } = page(chat)
  assert.match(title, /^MCP servers of crab/)
  assert.match(text, /^one\n {2}state +idle\n {2}used +yes\n {2}declared +agents\/crab\.toml:3\n {2}starts /)
  assert.doesNotMatch(text, /\noff\n/)
  assert.equal(back?.kind, 'panel')
})

test('the keys of /mcp act on servers of files too, or say which file has them and what to do', async () => {
  await using records = await recordFolder()
  await using one = await makeTestHost({ env: { CRABTALK_HOME: 'home', XDG_CONFIG_HOME: '' } })
  await using node = await startMcpNode([])
  const server = watchedServer(records.path, { tools: ['few'] }, { name: 'pj' })
  const { name, ...table } = server.entry
  const user = join(one.folder, '.config/crabtalk/mcp.toml')
  await mkdir(dirname(user), { recursive: true })
  await writeFile(user, renderToml({ server: { [name]: table, off: { disabled: true } } }))
  const cwd = join(one.folder, 'project')
  await mkdir(join(cwd, '.git'), { recursive: true })
  await writeFile(join(cwd, '.mcp.json'), '{"mcpServers":{"new":{"command":"no-such-program"}}}')
  const { dispatch } = node
  const servers = openSessionServers({ host: one.host, dispatch, isOff: false, cwd: () => cwd })
  const chat = createSlashChat(dispatch)
  chat.context = { ...chat.context, ports: { ...chat.context.ports, servers } }
  const pressAt = async (row: string, key: string) => {
    const at = panel(chat).rows.findIndex(({ cells }) => cells[0] === row)
    chat.context.act({ type: 'set', change: { overlay: { ...panel(chat), selected: at, note: '' } } })
    await press(chat, key)
    const { overlay } = chat.state()
    if (overlay?.kind !== 'page') return panel(chat).note
    chat.context.act({ type: 'set', change: { overlay: overlay.back } })
    return `${overlay.title}\n${overlay.text}`
  }

  await runSlash('/mcp', chat.context, NEVER)
  assert.deepEqual(
    panel(chat).rows.map(({ cells }) => cells.slice(0, 2)),
    [
      ['pj', 'idle'],
      ['off', 'disabled'],
      ['new', 'untrusted'],
    ],
  )
  assert.match(await pressAt('pj', 'p'), /^pj answers in /)
  const { entry = '' } = (await servers.list())[0]!
  await node.ask('hi', { options: { mcps: [entry] } })
  await runSlash('/mcp', chat.context, NEVER)
  assert.match(await pressAt('pj', 't'), /^Tools of pj, as crab gets them\n {2}mcp__pj__echo/)
  assert.equal(row(chat)['STATE'], 'connected')
  const before = server.starts().length
  assert.match(await pressAt('pj', 'p'), /^pj answers in \d+ ms/)
  assert.match(await pressAt('pj', 'l'), /^Standard error of pj\n/)
  assert.match(await pressAt('pj', 'v'), /^MCP servers of crab.*\npj\n {2}state +connected\n/s)
  assert.equal(server.starts().length, before)
  assert.equal(await pressAt('pj', 'r'), 'restarted pj with 2 tools')
  assert.equal(server.starts().length, before + 1)
  assert.equal(
    await pressAt('pj', 'd'),
    `pj belongs to ${user}; to disable it: crabtalk mcp disable --scope user pj`,
  )
  assert.deepEqual(
    panel(chat).rows.flatMap(({ keys = [] }) => keys.filter(({ key, confirm }) => key === 'd' && confirm)),
    [],
  )
  assert.match(await pressAt('pj', 'e'), /pj belongs to .*mcp\.toml; it is not disabled$/)
  const enable = 'crabtalk mcp enable --scope user off'
  assert.equal(await pressAt('off', 'p'), `off is disabled in ${user}; to enable it: ${enable}`)
  assert.match(await pressAt('off', 'e'), new RegExp(`${enable}$`))
  assert.match(
    await pressAt('new', 't'),
    /^Cannot use new of .*\.mcp\.json: you have not trusted its file yet/,
  )
  for (const at of [0, 1, 2]) {
    await runSlash('/mcp', chat.context, NEVER) // the login closes the panel
    chat.context.act({ type: 'set', change: { overlay: { ...panel(chat), selected: at } } })
    await press(chat, 'i')
  }
  const shown = JSON.stringify(chat.blocks())
  assert.match(shown, /Cannot log in to pj: it is a program/)
  assert.doesNotMatch(shown, /Cannot find/)
})

test('/mcp lists the servers of this agent first, and shows a result only below its server', async () => {
  await using node = await startMcpNode([])
  const entry = (name: string) => `[[mcps]]\nname = "${name}"\ncommand = "/nonexistent/${name}"\n`
  await node.home.write('agents/abel.toml', `id = "01JZZZZZZZZZZZZZZZZZZZZZZX"\n\n${entry('first')}`)
  await node.home.write('agents/crab.toml', `id = "01JZZZZZZZZZZZZZZZZZZZZZZZ"\n\n${entry('gone')}`)
  const chat = createSlashChat(node.dispatch)
  await runSlash('/mcp', chat.context, NEVER)
  assert.deepEqual(
    panel(chat).rows.map(({ cells }) => cells[0]),
    ['gone', 'first'],
  )
  await press(chat, 'p')
  const below = (selected: number) => renderOverlay({ ...panel(chat), selected }, VIEW).lines.join(' ')
  assert.match(below(0), /Cannot use the MCP server "gone"/)
  assert.doesNotMatch(below(1), /Cannot use the MCP server "gone"/)
})

test('/mcp without servers offers the catalog, and installs after showing what would run', async () => {
  await using node = await startMcpNode([])
  const { paths } = node.home
  await using place = await makeTestHost({ env: { CRABTALK_HOME: paths.home } })
  const { command, args } = misbehavingEntry({ tools: ['few'] })
  await node.home.write('mcp/catalog/mine.toml', toTemplateText({ command, args }))
  const needy = { command, args, env: { MINE_TOKEN: `\${MINE_TOKEN}` } }
  await node.home.write('mcp/catalog/needy.toml', toTemplateText(needy, 'needy', 'MINE_TOKEN'))
  const chat = createSlashChat(node.dispatch)
  const catalog = openCatalogPort(place.host, node.dispatch, () => place.folder)
  Object.assign(chat.context.ports, { catalog })

  await runSlash('/mcp', chat.context, NEVER)
  const picker = chat.state().overlay
  assert.ok(picker?.kind === 'picker' && picker.items.length > 80)
  await onChosen({ type: 'chosen', picker: 'catalog', value: 'mine' }, chat.context, NEVER)
  const menu = chat.state().overlay
  assert.ok(menu?.kind === 'menu')
  assert.ok(menu.note.includes(command), menu.note)
  const install = (id: string) =>
    onChosen({ type: 'chosen', picker: menu.picker, value: 'crab', key: id }, chat.context, NEVER)
  await install('mine')
  assert.equal(chat.state().overlay, undefined)
  await install('needy')
  const shown = JSON.stringify(chat.blocks())
  assert.match(
    shown,
    /Installed mine: 2 tools.*Installed needy, which cannot be used yet.*crabtalk vault set MINE_TOKEN/,
  )
  await assert.rejects(install('mine'), { kind: 'conflict' })
  await runSlash('/mcp add min', chat.context, NEVER)
  const again = chat.state().overlay
  assert.ok(again?.kind === 'picker')
  assert.deepEqual(
    [again.filter, again.items.find(({ value }) => value === 'mine')?.isCurrent],
    ['min', true],
  )
})

function toTemplateText(server: JsonObject, id = 'mine', credential?: string): string {
  const table = { id, name: 'Mine', description: 'Notes', category: 'notes', server }
  const credentials = credential === undefined ? [] : [{ name: credential, label: 'Token' }]
  return renderToml({ ...table, credentials })
}

test('an error is shown below the table', async () => {
  await using node = await startMcpNode([])
  const entry = '[[mcps]]\nname = "gone"\ncommand = "/nonexistent/server"\n'
  await node.home.write('agents/crab.toml', `id = "01JZZZZZZZZZZZZZZZZZZZZZZZ"\n\n${entry}`)
  const chat = createSlashChat(node.dispatch)
  await runSlash('/mcp', chat.context, NEVER)
  await press(chat, 'p')
  assert.match(panel(chat).note, /gone/)
  assert.equal(row(chat)['STATE'], 'failed')
  assert.notEqual(panel(chat).rows[0]?.problem, '')
})

test('a server that needs a login is shown with the command that logs in', async () => {
  await using server = await scriptedServer({ play: (_, response) => !!response.writeHead(401).end() })
  await using node = await startMcpNode([])
  await node.home.write('agents/crab.toml', `[[mcps]]\nname = "far"\nurl = "${server.url}"\n`)
  const chat = createSlashChat(node.dispatch)
  await runSlash('/mcp', chat.context, NEVER)
  await press(chat, 'p')
  assert.equal(row(chat)['STATE'], 'needs_auth')
  assert.match(panel(chat).rows[0]!.problem!, /; log in with crabtalk mcp login far$/)
  assert.match(panel(chat).note, /\(crabtalk mcp login far\)$/)
})

test('a panel that was closed meanwhile stays closed', async () => {
  await using records = await recordFolder()
  await using node = await startMcpNode([])
  const server = watchedServer(records.path, { tools: ['few'] }, { name: 'one' })
  await node.home.write(
    'agents/crab.toml',
    `id = "01JZZZZZZZZZZZZZZZZZZZZZZZ"\n\n${entriesToml(server.entry)}`,
  )
  const chat = createSlashChat(node.dispatch)
  await runSlash('/mcp', chat.context, NEVER)
  const pinging = press(chat, 'p')
  assert.equal(panel(chat).note, 'pinging one of crab…')
  chat.context.act({ type: 'set', change: { overlay: undefined } })
  await pinging
  assert.equal(chat.state().overlay, undefined)
  assert.equal(server.starts().length, 1)
})

function press(chat: SlashChat, key: string): Promise<void> {
  const { value } = panel(chat).rows[panel(chat).selected]!
  return onChosen({ type: 'chosen', picker: 'mcp', value, key }, chat.context, NEVER)
}

function page(chat: SlashChat) {
  const { overlay } = chat.state()
  assert.ok(overlay?.kind === 'page')
  return overlay
}

function panel(chat: SlashChat) {
  const { overlay } = chat.state()
  assert.ok(overlay?.kind === 'panel')
  return overlay
}

/** Returns the first cells of the first row, by their column. */
function row(chat: SlashChat): Record<string, string> {
  const { header, rows } = panel(chat)
  return Object.fromEntries(header.slice(0, 4).map((name, at) => [name, rows[0]!.cells[at]!]))
}

test('/mcp lists the servers of files, with the file and why one is not used', () => {
  const server = {
    name: 'docs',
    file: '/p/.mcp.json',
    scope: 'project',
    state: 'untrusted',
    problem: 'crabtalk trust',
  } as const
  const { rows } = mcpPanel({ peers: [], agents: [] }, { agent: 'crab', session: [server] })
  const cells = ['docs', 'untrusted', 'this directory', '-', '-', '-', '-', '-', '-', '/p/.mcp.json']
  assert.deepEqual(
    rows.map((one) => [one.value, one.cells, one.problem]),
    [['crab\ndocs\n/p/.mcp.json', cells, 'crabtalk trust']],
  )
  const peers = ['/p/.mcp.json', '/q/.mcp.json'].map((file) =>
    McpPeer.create({ fingerprint: file, target: file, owners: [{ agent: 'crab', name: 'docs', file }] }),
  )
  const ready = { ...server, state: 'ready', problem: '' } as const
  const open = mcpPanel({ peers, agents: [] }, { agent: 'crab', session: [ready] })
  assert.deepEqual(
    open.rows.map((one) => one.cells.at(-1)),
    ['/p/.mcp.json'],
  )
})
