import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import which from 'which'
import { manPages } from '../../scripts/docs/man.ts'
import type { Command } from '../../src/cli/command.ts'
import { CRABTALK_SECTIONS, CRABUP_SECTIONS } from '../../src/cli/sections.ts'
import { CRABTALK } from '../../src/commands/table.ts'
import { CRABUP } from '../../src/commands/up/table.ts'
import { makeTree } from '../support/trees.ts'

const ALL = {
  crabtalk: renderPages('crabtalk', CRABTALK, CRABTALK_SECTIONS),
  crabup: renderPages('crabup', CRABUP, CRABUP_SECTIONS),
}

test('manPages() describes every command in the help, with its options and examples', () => {
  const programs = [['crabtalk', CRABTALK] as const, ['crabup', CRABUP] as const]
  for (const [program, commands] of programs) {
    const all = [...ALL[program].values()].join('').replaceAll('\\-', '-')
    for (const { path, options, examples, hidden } of commands) {
      const heading = `.SS ${program} ${path.join(' ')}\n`
      assert.equal(all.includes(heading), !hidden, heading)
      if (hidden) continue
      for (const { name } of options) assert.ok(all.includes(`--${name}`), `${heading} --${name}`)
      const [first = ''] = examples[0]!.split(' ')
      assert.ok(all.includes(first), first)
    }
  }
})

test('manPages() links the page of a program with those of its commands', () => {
  for (const [program, pages] of Object.entries(ALL)) {
    for (const name of pages.keys()) {
      const page = name.slice(0, -2).replaceAll('-', '\\-')
      const links = pages.get(name === `${program}.1` ? [...pages.keys()][1]! : `${program}.1`)!
      assert.ok(links.includes(`.BR ${page} (1)`), name)
    }
  }
})

test('manPages() writes ASCII with known requests only', () => {
  const known = new Set(['TH', 'SH', 'SS', 'TP', 'PP', 'B', 'BR', 'I', 'nf', 'fi', 'RS', 'RE'])
  for (const [name, page] of [...ALL.crabtalk, ...ALL.crabup]) {
    assert.match(page, /^[\n\x20-\x7e]+$/, name)
    const requests = page.split('\n').flatMap((line) => /^[.'](\S*)/.exec(line)?.[1] ?? [])
    assert.deepEqual(
      requests.filter((one) => !known.has(one)),
      [],
      name,
    )
    assert.doesNotMatch(page.replaceAll(/\\(?:[e&-]|\(dq|\[u[\dA-F]{4,6}\]|f[BIR])/g, ''), /\\/, name)
  }
})

test('manPages() writes pages that roff programs read without a warning', async (t) => {
  const linters: [program: string, args: string[]][] = [
    ['groff', ['-man', '-ww', '-z', '-Tutf8']],
    ['mandoc', ['-Tlint', '-Wwarning']],
  ]
  for (const [name, args] of linters) {
    const program = await which(name, { nothrow: true })
    if (!program) {
      t.diagnostic(`${name} is not installed here`)
      continue
    }
    await using tree = await makeTree(Object.fromEntries([...ALL.crabtalk, ...ALL.crabup]))
    const files = [...ALL.crabtalk.keys(), ...ALL.crabup.keys()].map(tree.path)
    const { stdout, stderr } = spawnSync(program, [...args, ...files], { encoding: 'utf8' })
    const warnings = `${stdout}${stderr}`.split('\n').filter((line) => !line.includes('missing date')) // none on purpose
    assert.deepEqual(warnings, [''], name)
  }
})

test('manPages() escapes the syntax of roff', () => {
  const command: Command = {
    path: ['odd'],
    args: '',
    summary: 'C:\\temp and …',
    details: '.hidden is a file; --with-this\n\n  .nf "quoted" a-b',
    options: [],
    examples: ["'x' \\n"],
    load: () => assert.fail(),
  }
  const page = renderPages('crabtalk', [command], []).get('crabtalk-odd.1')!
  for (const line of [
    'C:\\etemp and \\[u2026].',
    '\\&.hidden is a file; \\-\\-with\\-this',
    '  .nf \\(dqquoted\\(dq a\\-b',
    "\\&'x' \\en",
  ]) {
    assert.ok(page.split('\n').includes(line), `${line} in\n${page}`)
  }
})

function renderPages(
  name: string,
  commands: readonly Command[],
  sections: typeof CRABTALK_SECTIONS,
): Map<string, string> {
  return manPages({ name, version: '1.2.3', summary: 'It', commands, sections })
}
