import assert from 'node:assert/strict'
import { posix } from 'node:path'
import { test } from 'node:test'
import { findCycle, readSources, type Source, toSource } from './support/imports.ts'
import { LAYERS, SHARED_LISTS } from './support/layers.ts'

/** Packages and built-ins that only one folder may import; a trailing slash means every package of that scope. */
const OWNED_MODULES: Record<string, readonly string[]> = {
  'node:net': ['src/core/transport', 'src/mcp/oauth/special-address.ts'],
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

/** Code that only some files may contain. */
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
      'src/cli/turn/commentary.ts',
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

type Layers = Record<string, readonly string[]>

const MAX_LINES = 400
const product = readSources('bin', 'src')
const everything = [...product, ...readSources('components', 'scripts', 'test', 'bench')]

test('imports only go down the layers', () => {
  assert.deepEqual(product.flatMap(layerBreaches), [])
})

test('every row of the layers has files, and imports use each of its entries', () => {
  assert.deepEqual(findUnusedEntries(product, LAYERS, SHARED_LISTS), [])
})

test('imports have no cycles', () => {
  assert.equal(findCycle(everything)?.join(' imports '), undefined)
})

test('the first frame of the chat waits for no code of the vim keys', () => {
  const loaded = new Set(['src/tui/chat.ts'])
  for (const path of loaded) {
    const code = product.find((one) => one.path === path)?.code.join('\n') ?? ''
    for (const [, file = ''] of code.matchAll(/^(?:import|export) (?!type )(?:[^;']* from )?'(\.[^']+)'/gm))
      loaded.add(posix.join(posix.dirname(path), file))
  }
  assert.ok(loaded.has('src/tui/first-frame.ts'))
  assert.deepEqual(
    [...loaded].filter((path) => path.startsWith('src/tui/text/vim/')),
    [],
  )
})

test('packages and operating system modules are imported only by their owners', () => {
  assert.deepEqual(product.flatMap(moduleBreaches), [])
})

test('only its owners use the process', () => {
  assert.deepEqual(product.flatMap(codeBreaches), [])
})

test('the runtime does not read a clock', () => {
  const clock = /\b(Date\.now\(|new Date\(\)|performance\.now\()/
  const runtime = product.filter(({ path }) => isIn(path, 'src/core/runtime'))
  assert.deepEqual(linesWith(runtime, clock), [])
})

test(`no file has more than ${MAX_LINES} lines, except generated ones`, () => {
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

test('the product imports by literal names, so that the bundle contains all of it', () => {
  assert.deepEqual(linesWith(product, /\bimport\((?!\s*['"])/), [])
})

test('these rules detect static, dynamic and type imports, and code that a file must not contain', () => {
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
  assert.deepEqual(layerBreaches(toSource('src/commands/new/new.ts', '')), [
    'src/commands/new/new.ts belongs to no layer',
  ])
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

test('unused entries of rows and of shared lists are found, and rows without files', () => {
  const used = ['src/a', 'src/b']
  const layers = {
    'src/x': [...used, 'src/c'],
    'src/y': used,
    'src/z': ['src/a'],
    'src/a': [],
    'src/none': [],
  }
  const sources = [
    toSource('src/x/1.ts', "import '../a/1.ts'"),
    toSource('src/x/2.ts', "import './c.ts'"),
    ...['src/y/1.ts', 'src/z/1.ts', 'src/a/1.ts'].map((path) => toSource(path, '')),
  ]
  assert.deepEqual(findUnusedEntries(sources, layers, { used }), [
    'src/none has no file',
    'src/x does not import src/c',
    'src/z does not import src/a',
    'no row with used imports src/b',
  ])
})

function layerBreaches({ path, imports }: Source): string[] {
  const layer = findLayer(path, LAYERS)
  if (layer === undefined) return [`${path} belongs to no layer`]
  const allowed = [layer, ...LAYERS[layer]!]
  return imports
    .flatMap(({ file }) => file ?? [])
    .filter((file) => !allowed.some((folder) => isIn(file, folder)))
    .map((file) => `${path} imports ${file}`)
}

/** Finds the row that a file belongs to: the longest key that contains it. */
function findLayer(path: string, layers: Layers): string | undefined {
  return Object.keys(layers)
    .filter((folder) => isIn(path, folder))
    .toSorted((a, b) => b.length - a.length)[0]
}

/** Finds what the table allows and no import needs; entries of a shared list are judged for all its rows together. */
function findUnusedEntries(sources: readonly Source[], layers: Layers, lists: Layers): string[] {
  const rows = Object.keys(layers)
  const files = Map.groupBy(sources, ({ path }) => findLayer(path, layers))
  const uses = (row: string, entry: string) =>
    (files.get(row) ?? [])
      .flatMap(({ imports }) => imports.flatMap(({ file }) => file ?? []))
      .some((file) => isIn(file, entry) && !isIn(file, row))
  const shared = Object.values(lists)
  return [
    ...rows.filter((row) => !files.has(row)).map((row) => `${row} has no file`),
    ...rows.flatMap((row) =>
      withoutLists(layers[row]!, shared)
        .filter((entry) => !uses(row, entry))
        .map((entry) => `${row} does not import ${entry}`),
    ),
    ...Object.entries(lists).flatMap(([name, list]) =>
      withoutLists(list, shared.toSpliced(shared.indexOf(list), 1))
        .filter((entry) => !rows.some((row) => hasAll(layers[row]!, list) && uses(row, entry)))
        .map((entry) => `no row with ${name} imports ${entry}`),
    ),
  ]
}

/** Returns the entries that are in none of the lists that `entries` contains as a whole. */
function withoutLists(entries: readonly string[], lists: readonly (readonly string[])[]): string[] {
  const included = lists.filter((list) => hasAll(entries, list)).flat()
  return entries.filter((entry) => !included.includes(entry))
}

function hasAll(entries: readonly string[], list: readonly string[]): boolean {
  return list.every((one) => entries.includes(one))
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
