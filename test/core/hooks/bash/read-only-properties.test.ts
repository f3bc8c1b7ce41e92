import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { analyzeLine } from '../../../../src/core/hooks/bash/read-only.ts'
import { READ_ONLY_COMMANDS } from '../../../../src/core/policy/read-only/commands.ts'
import { propertyRuns } from '../../../support/property-runs.ts'
import { soups } from '../../../support/shell-lines.ts'
import { makeTree } from '../../../support/trees.ts'

const TEXT = await readFile(join(import.meta.dirname, 'read-only-lines.txt'), 'utf8')
/** Lines that do not need a repository, because this tree is not one. */
const LINES = TEXT.trimEnd()
  .split('\n')
  .filter((line) => !/git|WS/.test(line))

/** Commands that treat any words as text. */
const ANY_WORDS = new Set(['echo', 'printf', 'true', 'false', ':'])

test('an added command or redirection that writes is detected in any read-only line', async () => {
  const more = fc.constantFrom(
    ...[
      '; rm x',
      ' && rm x',
      ' || rm x',
      ' | sh',
      ' & rm x',
      '\nrm x',
      ' > x',
      ' >> x',
      ' 2> x',
      ' &> x',
      ' $(rm x)',
    ],
    ...[
      ' `rm x`',
      ' <(rm x)',
      ' $x',
      ' "$x"',
      ' | xargs rm',
      ' | tee x',
      '; cat /etc/passwd',
      ' | sort -o x',
      ' ~/x',
    ],
  )
  const before = fc.constantFrom(
    '',
    'rm x; ',
    'X=1 ',
    'sudo ',
    'env ',
    '! ',
    'time ',
    '( ',
    'cat /etc/passwd; ',
  )
  await using tree = await makeTree({ 'README.md': 'x' })
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...LINES), before, more, async (line, head, tail) => {
      if (line.includes('#')) return
      assert.equal(await isReadOnly(head + line + tail, tree.root), false)
    }),
    { numRuns: propertyRuns(400) },
  )
})

test('no command accepts an unlisted option, or a file elsewhere', async () => {
  await using tree = await makeTree({ 'README.md': 'x' })
  const names = [...READ_ONLY_COMMANDS.keys()].filter(
    (name) => !ANY_WORDS.has(name) && name !== '[' && name !== 'test',
  )
  const word = fc.constantFrom(
    '-l',
    '-n',
    '5',
    '-r',
    '-a',
    'x',
    'README.md',
    '-c',
    '.',
    '--',
    '-name',
    '-print',
  )
  const unknown = fc.constantFrom('--zz', '--output=x', '--exec=x', '-%', '--pre=x', '--files0-from=x')
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...names),
      unknown,
      fc.array(word, { maxLength: 4 }),
      async (name, option, words) => {
        assert.equal(await isReadOnly([name, option, ...words].join(' '), tree.root), false)
      },
    ),
    { numRuns: propertyRuns(400) },
  )
  const readers = names.filter((name) => !/^(basename|dirname|tr|jq|sed|grep|rg)$/.test(name))
  const outside = fc.constantFrom('/etc/passwd', '../x', 'a/../../x', '/', './../x', '/proc/self/environ')
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...readers), outside, async (name, path) => {
      assert.equal(await isReadOnly(`${name} ${path}`, tree.root), false)
    }),
    { numRuns: propertyRuns(200) },
  )
})

test('no line with shell syntax is judged read-only if a single command is not', async () => {
  await using tree = await makeTree({ 'README.md': 'x' })
  await fc.assert(
    fc.asyncProperty(soups, async (line) => assert.equal(await isReadOnly(`ls; ${line}`, tree.root), false)),
    { numRuns: propertyRuns(500) },
  )
})

async function isReadOnly(line: string, cwd: string): Promise<boolean> {
  const { readOnly } = await analyzeLine(line, { cwd, homeDir: '', closed: [], path: process.env['PATH'] })
  return readOnly?.every(Boolean) ?? false
}
