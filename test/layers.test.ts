import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findCycle, readSources, type Source, toSource } from './support/imports.ts'

/**
 * Who may import whom, besides its own folder: folders, or single files where only the types are meant to be
 * known. Every file belongs to the longest key that fits; a file that belongs to none is a breach.
 */
const BASE = ['src/core/base']
const MECHANISM = [...BASE, 'src/core/config']
/** What every command may import; a section that needs more has its own row, with the faces it uses. */
const COMMAND = [
  ...MECHANISM,
  'src/core/protocol',
  'src/core/questions',
  'src/daemon/attach.ts',
  'src/cli',
  'src/commands',
]
const UP_BASE = [
  ...MECHANISM,
  'src/core/process',
  'src/up/types.ts',
  'src/up/names.ts',
  'src/up/probe/types.ts',
  'src/up/foreign-time.ts',
]
/** The parts of the chat's drawing that know nothing of what is drawn. */
const TUI_DRAWING = ['clean', 'colours', 'memoize-last', 'numbers', 'style', 'text', 'view', 'window'].map(
  (name) => `src/tui/view/${name}.ts`,
)
const TUI_VIEW = [...BASE, 'src/core/protocol', 'src/tui/text']
const TUI_STATE = [
  ...TUI_VIEW,
  'src/core/questions',
  'src/tui/ports.ts',
  'src/tui/search/types.ts',
  'src/tui/view',
  'src/tui/cards',
  'src/tui/overlays',
]
const TUI_CONTROLLER = [
  ...TUI_STATE,
  'src/tui/terminal',
  'src/tui/search',
  'src/tui/state',
  'src/tui/slash',
  'src/tui/pager',
]
/** Everything that talks to one MCP server. */
const MCP_CLIENT = [
  'src/mcp/fingerprint.ts',
  'src/mcp/types.ts',
  'src/mcp/tools',
  'src/mcp/secrets',
  'src/mcp/elicitation',
  'src/mcp/connection',
  'src/mcp/stdio',
  'src/mcp/remote',
]
const LAYERS: Record<string, readonly string[]> = {
  'src/core/base': [],
  'src/core/config': BASE,
  'src/core/protocol': MECHANISM,
  'src/core/questions': [...BASE, 'src/core/protocol'],
  'src/core/transport': [...MECHANISM, 'src/core/protocol'],
  'src/core/provider': MECHANISM,
  'src/core/policy': MECHANISM,
  'src/core/process': MECHANISM,
  'src/core/lease': MECHANISM,
  'src/core/storage': MECHANISM,
  'src/core/search': MECHANISM,
  'src/core/session-search': [...MECHANISM, 'src/core/search', 'src/core/storage', 'src/core/lease/types.ts'],
  'src/core/memory': [...MECHANISM, 'src/core/search'],
  'src/core/bus': MECHANISM,
  'src/core/tokens': MECHANISM,
  'src/core/skills': MECHANISM,
  'src/core/trust': MECHANISM,
  'src/core/cron': [...MECHANISM, 'src/core/lease'],
  'src/core/completion': [
    ...MECHANISM,
    'src/core/provider',
    'src/core/storage',
    'src/core/memory',
    'src/core/skills',
  ],
  'src/core/runtime': [
    ...MECHANISM,
    'src/core/policy',
    'src/core/provider/types.ts',
    'src/core/storage/types.ts',
    'src/core/storage/session-digest.ts',
    'src/core/lease/types.ts',
    'src/core/search',
    'src/core/session-search',
    'src/core/memory',
  ],
  'src/core/hooks': [
    'src/core/skills',
    'src/core/trust',
    ...MECHANISM,
    'src/core/runtime/hook.ts',
    'src/core/runtime/asks.ts',
    'src/core/runtime/events.ts',
    'src/core/runtime/selected-tools.ts',
    'src/core/provider/types.ts',
    'src/core/storage',
    'src/core/memory',
    'src/core/search',
    'src/core/session-search',
    'src/core/process',
    'src/core/policy',
  ],
  'src/mcp': [...MECHANISM, 'src/core/runtime/hook.ts', 'src/core/runtime/events.ts', 'src/core/process'],
  'src/mcp/fingerprint.ts': MECHANISM,
  'src/mcp/types.ts': [...MECHANISM, 'src/core/runtime/hook.ts'],
  'src/mcp/taint': MECHANISM,
  'src/mcp/tools': [
    ...MECHANISM,
    'src/core/runtime/hook.ts',
    'src/core/provider/types.ts',
    'src/core/policy/wildcard.ts',
  ],
  'src/mcp/secrets': [...MECHANISM, 'src/mcp/fingerprint.ts', 'src/mcp/tools'],
  'src/mcp/elicitation': [...MECHANISM, 'src/core/runtime/asks.ts', 'src/mcp/tools'],
  'src/mcp/connection': [
    ...MECHANISM,
    'src/core/process/utf8-cut.ts',
    'src/mcp/fingerprint.ts',
    'src/mcp/types.ts',
    'src/mcp/tools',
    'src/mcp/secrets',
    'src/mcp/elicitation',
  ],
  'src/mcp/stdio': [
    ...MECHANISM,
    'src/core/process',
    'src/mcp/fingerprint.ts',
    'src/mcp/tools',
    'src/mcp/connection/link.ts',
  ],
  'src/mcp/remote': [
    ...MECHANISM,
    'src/core/process',
    'src/mcp/fingerprint.ts',
    'src/mcp/tools',
    'src/mcp/secrets',
    'src/mcp/connection/link.ts',
    'src/mcp/stdio/stderr-tail.ts',
  ],
  'src/mcp/peers': [
    ...MECHANISM,
    'src/core/runtime/hook.ts',
    'src/core/runtime/events.ts',
    'src/core/process',
    ...MCP_CLIENT,
  ],
  'src/mcp/resources': [
    ...MECHANISM,
    'src/core/runtime/hook.ts',
    'src/core/policy/class-rights.ts',
    ...MCP_CLIENT,
    'src/mcp/peers',
  ],
  'src/mcp/prompts': [...MECHANISM, ...MCP_CLIENT, 'src/mcp/peers'],
  'src/mcp/hook': [
    ...MECHANISM,
    'src/core/runtime/hook.ts',
    'src/core/provider/types.ts',
    'src/core/policy/types.ts',
    ...MCP_CLIENT,
    'src/mcp/peers',
    'src/mcp/resources',
    'src/mcp/taint',
  ],
  'src/mcp/serve': [
    ...MECHANISM,
    'src/core/protocol',
    'src/mcp/stdio/depth.ts',
    'src/mcp/stdio/line-reader.ts',
  ],
  'src/tui/terminal': BASE,
  'src/tui/text': [...BASE, 'src/tui/search/types.ts'],
  'src/tui/view': TUI_VIEW,
  'src/tui/view/highlight': ['src/tui/view/style.ts', 'src/tui/view/view.ts'],
  'src/tui/view/markdown': [...TUI_DRAWING, 'src/tui/view/blocks.ts'],
  'src/tui/view/tool': [...BASE, 'src/core/protocol', ...TUI_DRAWING, 'src/tui/view/blocks.ts'],
  'src/tui/search': [...TUI_VIEW, 'src/tui/view'],
  'src/tui/cards': [...TUI_VIEW, 'src/tui/view', 'src/core/questions'],
  'src/tui/overlays': [...TUI_VIEW, 'src/tui/view', 'src/tui/search'],
  'src/tui/state': TUI_STATE,
  'src/tui/ports.ts': ['src/core/protocol', 'src/tui/text/history.ts'],
  'src/tui/pager': [...TUI_STATE, 'src/tui/state'],
  'src/tui/slash': [...TUI_STATE, 'src/tui/search', 'src/tui/state'],
  'src/tui/controller': TUI_CONTROLLER,
  'src/tui/components': [...TUI_CONTROLLER, 'src/tui/controller'],
  'src/tui/plain': [...TUI_CONTROLLER, 'src/tui/controller'],
  'src/tui': [...BASE, 'src/core/protocol', 'src/core/questions'],
  'src/daemon': ['src/core', 'src/mcp'],
  'src/mcp/component': MECHANISM,
  'src/lib': ['src/core', 'src/mcp/component'],
  'src/up/names.ts': BASE,
  'src/up/probe/types.ts': [],
  'src/up/probe': [...UP_BASE, 'src/core/cron/scheduler-lease.ts'],
  'src/up/foreign-time.ts': [],
  'src/up/types.ts': MECHANISM,
  'src/up/model-setup.ts': [...MECHANISM, 'src/core/provider'],
  'src/up/units': UP_BASE,
  'src/up/logs': UP_BASE,
  'src/up/supervisor': [...UP_BASE, 'src/core/lease/owner-lock.ts'],
  'src/up/managers': [...UP_BASE, 'src/up/units', 'src/up/supervisor'],
  'src/up/guard': [...UP_BASE, 'src/up/supervisor'],
  'src/up/ps': [...UP_BASE, 'src/up/probe', 'src/up/logs', 'src/up/units', 'src/up/supervisor'],
  'src/up/packages': [...UP_BASE, 'src/up/own-env.ts'],
  'src/up/pkg': [...UP_BASE, 'src/up/packages', 'src/core/skills'],
  'src/up/self': [...UP_BASE, 'src/up/packages'],
  'src/up': [...MECHANISM, 'src/core/process'],
  'src/cli': [
    ...MECHANISM,
    'src/core/protocol',
    'src/core/process/foreground.ts',
    'src/core/search/terms/term-buffer.ts',
  ],
  'src/commands': COMMAND,
  'src/commands/chat': [
    ...COMMAND,
    'src/core/hooks/bash/user-shell.ts',
    'src/core/hooks/search/list-files.ts',
    'src/core/process/find-program.ts',
    'src/core/process/foreground.ts',
    'src/core/process/process-host.ts',
    'src/core/process/types.ts',
    'src/core/provider/provider-keys.ts',
    'src/daemon/runtime-connection.ts',
    'src/tui/chat.tsx',
    'src/tui/plain/plain-chat.ts',
    'src/tui/ports.ts',
    'src/tui/state/pending-asks.ts',
    'src/tui/terminal/reflow.ts',
    'src/tui/text/history.ts',
  ],
  'src/commands/completions': [...COMMAND, 'src/core/completion', 'src/core/cron/describe-schedule.ts'],
  'src/commands/config.ts': [...COMMAND, 'src/core/policy/wide-rules.ts'],
  'src/commands/conversation': [...COMMAND, 'src/core/session-search/types.ts'],
  'src/commands/cron': [...COMMAND, 'src/core', 'src/daemon'],
  'src/commands/daemon': [
    ...COMMAND,
    'src/daemon/find-daemon.ts',
    'src/daemon/serve/end-daemon.ts',
    'src/daemon/serve/home-lease.ts',
    'src/daemon/serve/run-daemon.ts',
    'src/daemon/tcp/open-tcp.ts',
  ],
  'src/commands/doctor': [
    ...COMMAND,
    'src/core/cron/cron-file.ts',
    'src/core/policy/wide-rules.ts',
    'src/core/process/find-program.ts',
    'src/core/provider/demo.ts',
    'src/core/provider/discover.ts',
    'src/core/provider/registry.ts',
    'src/core/transport/token.ts',
    'src/core/trust/trust-store.ts',
    'src/daemon/idle-rules/find-idle-rules.ts',
    'src/daemon/tcp/open-tcp.ts',
    'src/mcp/fingerprint.ts',
    'src/mcp/remote/header-rules.ts',
  ],
  'src/commands/mcp': [...COMMAND, 'src/core', 'src/mcp', 'src/daemon'],
  'src/commands/memory': [...COMMAND, 'src/core/memory/types.ts', 'src/daemon/memory-tree.ts'],
  'src/commands/send': [...COMMAND, 'src/core/provider/provider-keys.ts'],
  'src/commands/skill': [...COMMAND, 'src/core/skills'],
  'src/commands/supervise': [...COMMAND, 'src/core/process', 'src/up'],
  'src/commands/token': [
    ...COMMAND,
    'src/core/lease/sqlite-leases.ts',
    'src/core/tokens',
    'src/core/transport/token.ts',
  ],
  'src/commands/trust': [...COMMAND, 'src/core/lease/sqlite-leases.ts', 'src/core/trust'],
  'src/commands/up': [...COMMAND, 'src/core', 'src/daemon', 'src/up'],
  'src/commands/written-rules.ts': [
    ...COMMAND,
    'src/daemon/idle-rules/find-idle-rules.ts',
    'src/daemon/idle-rules/idle-rule.ts',
    'src/up/packages/installed.ts',
  ],
  bin: ['src/cli', 'src/commands', 'src/core/base'],
}

/** Packages and built-ins that one folder keeps for itself; a trailing slash means every package of that scope. */
const OWNED_MODULES: Record<string, readonly string[]> = {
  'node:net': ['src/core/transport'],
  'node:child_process': ['src/core/process', 'bin/launch.cjs'],
  'node:process': [],
  croner: ['src/core/cron'],
  'node:worker_threads': ['src/core/session-search/background'],
  '@modelcontextprotocol/server': ['src/mcp/serve', 'src/mcp/component'],
  '@modelcontextprotocol/': ['src/mcp'],
  '@ai-sdk/': ['src/core/provider'],
  ink: ['src/tui'],
  react: ['src/tui'],
}

/** What only some files may write. */
const OWNED_CODE: readonly { what: string; pattern: RegExp; owners: readonly string[] }[] = [
  {
    what: 'process.exit',
    pattern: /\bprocess\.(exit|reallyExit)\(/,
    owners: ['bin', 'src/lib/component.ts'],
  },
  {
    what: 'JSON.stringify() for standard output, where toShownJson() escapes what a terminal obeys',
    pattern: /\.write\(`?[^`]*JSON\.stringify\(|JSON\.stringify\(.*\)\}\\n`/,
    owners: [
      'src/commands/chat/history-file.ts',
      'src/commands/send/commentary.ts',
      'src/core',
      'src/mcp',
      'src/up',
      'src/daemon',
    ],
  },
  { what: 'process.kill', pattern: /\bprocess\.kill\(/, owners: ['src/core/process', 'bin'] },
  {
    what: 'process.*',
    pattern: /(?<![\w./'-])process(\.(?!kill\()\w|\[)/,
    owners: [
      'bin',
      'src/commands/main.ts',
      'src/core/config/paths.ts',
      'src/lib/connect.ts',
      'src/lib/component.ts',
    ],
  },
]

const MAX_LINES = 400
const product = readSources('bin', 'src')
const everything = [...product, ...readSources('components', 'scripts', 'test', 'bench')]

test('imports go down the layers only', () => {
  assert.deepEqual(product.flatMap(layerBreaches), [])
})

test('imports form no cycle', () => {
  assert.equal(findCycle(everything)?.join(' imports '), undefined)
})

test('packages and operating system modules stay with their owners', () => {
  assert.deepEqual(product.flatMap(moduleBreaches), [])
})

test('the process is touched by its owners only', () => {
  assert.deepEqual(product.flatMap(codeBreaches), [])
})

test('the runtime reads no clock', () => {
  const clock = /\b(Date\.now\(|new Date\(\)|performance\.now\()/
  const runtime = product.filter(({ path }) => isIn(path, 'src/core/runtime'))
  assert.deepEqual(linesWith(runtime, clock), [])
})

test(`no file has more than ${MAX_LINES} lines, generated ones aside`, () => {
  const written = everything.filter(({ path }) => !path.includes('.generated.'))
  const long = written.map(({ path, text }) => `${path} has ${text.trimEnd().split('\n').length} lines`)
  assert.deepEqual(
    long.filter((line) => Number(line.match(/(\d+) lines$/)![1]) > MAX_LINES),
    [],
  )
})

test('modules have named exports and no index.ts', () => {
  assert.deepEqual(linesWith(everything, /^export (default|\*)/), [])
  const indexes = everything.map(({ path }) => path).filter((path) => /(^|\/)index\.tsx?$/.test(path))
  assert.deepEqual(indexes, [])
})

test('the product imports by name, so that the bundle holds all of it', () => {
  assert.deepEqual(linesWith(product, /\bimport\((?!\s*['"])/), [])
})

test('these rules catch static, dynamic and type imports, and what a file may not touch', () => {
  const breach = toSource(
    'src/core/base/x.ts',
    [
      "import { a } from '../config/a.ts'",
      "import type { B } from '../storage/b.ts'",
      "import {\n  c,\n} from '../lease/c.ts'",
      "import '../bus/d.ts'",
      "export { e } from '../cron/e.ts'",
      "const f = await import('../../mcp/f.ts')",
      "// import { g } from '../runtime/g.ts'",
      "import { connect } from 'node:net'",
      'const { pid } = process.env',
      'process.kill(1)',
      "const path = './process.ts'",
    ].join('\n'),
  )
  const targets = ['config/a', 'storage/b', 'lease/c', 'bus/d', 'cron/e'].map((name) => `src/core/${name}.ts`)
  assert.deepEqual(
    layerBreaches(breach),
    [...targets, 'src/mcp/f.ts'].map((file) => `src/core/base/x.ts imports ${file}`),
  )
  assert.deepEqual(moduleBreaches(breach), ['src/core/base/x.ts imports node:net'])
  assert.deepEqual(codeBreaches(breach), [
    'src/core/base/x.ts uses process.kill',
    'src/core/base/x.ts uses process.*',
  ])
  assert.deepEqual(findCycle([toSource('a.ts', "import './b.ts'"), toSource('b.ts', "import('./a.ts')")]), [
    'a.ts',
    'b.ts',
    'a.ts',
  ])
})

function layerBreaches({ path, imports }: Source): string[] {
  const layer = Object.keys(LAYERS)
    .filter((folder) => isIn(path, folder))
    .toSorted((a, b) => b.length - a.length)[0]
  if (layer === undefined) return [`${path} belongs to no layer`]
  const allowed = [layer, ...LAYERS[layer]!]
  return imports
    .flatMap(({ file }) => file ?? [])
    .filter((file) => !allowed.some((folder) => isIn(file, folder)))
    .map((file) => `${path} imports ${file}`)
}

function moduleBreaches({ path, imports }: Source): string[] {
  return imports
    .map(({ specifier }) => specifier)
    .filter((specifier) => {
      const key = Object.keys(OWNED_MODULES).find((name) => isIn(specifier, name.replace(/\/$/, '')))
      return key !== undefined && !OWNED_MODULES[key]!.some((owner) => isIn(path, owner))
    })
    .map((specifier) => `${path} imports ${specifier}`)
}

function codeBreaches({ path, code }: Source): string[] {
  return OWNED_CODE.filter(
    ({ pattern, owners }) =>
      !owners.some((owner) => isIn(path, owner)) && code.some((line) => pattern.test(line)),
  ).map(({ what }) => `${path} uses ${what}`)
}

function linesWith(sources: readonly Source[], pattern: RegExp): string[] {
  return sources.flatMap(({ path, code }) =>
    code.filter((line) => pattern.test(line)).map((line) => `${path}: ${line.trim()}`),
  )
}

function isIn(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`)
}
