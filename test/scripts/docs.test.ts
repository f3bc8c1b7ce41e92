import assert from 'node:assert/strict'
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { agentSection, configSection } from '../../scripts/docs/configuration.ts'
import { providersSection } from '../../scripts/docs/providers.ts'
import { plain, replaceSections, table } from '../../scripts/docs/sections.ts'

test('replaceSections() rewrites its sections and keeps the rest', () => {
  const page = 'a\n<!-- generated x -->\nold\n<!-- end -->\nb\n<!-- generated y -->\n<!-- end -->\n'
  const made = replaceSections('page.md', page, { x: () => 'X\n', y: () => 'Y' })
  assert.equal(
    made,
    'a\n<!-- generated x -->\n\nX\n\n<!-- end -->\nb\n<!-- generated y -->\n\nY\n\n<!-- end -->\n',
  )
  assert.equal(replaceSections('page.md', made, { x: () => 'X', y: () => 'Y' }), made)
})

test('replaceSections() rejects a page without the section', () => {
  assert.throws(
    () => replaceSections('page.md', 'a\n', { x: () => 'X' }),
    /docs\/page\.md: it has no section x/,
  )
  assert.throws(() => replaceSections('page.md', '<!-- generated x -->\n', { x: () => 'X' }), /no section x/)
})

test('table() and plain() escape bars and stars', () => {
  assert.equal(
    table(['a', 'b'], [['x|y', plain('bash(git *) <b>')]]),
    '| a | b |\n|---|---|\n| x\\|y | bash(git \\*) \\<b> |',
  )
})

test('the reference names every key of config.toml and of an agent file, with type and default', () => {
  const config = configSection()
  for (const row of [
    '| `providers[].kind` | `openai` or `anthropic` or',
    '| `providers[].timeout_ms` | whole number from 1 | `30000` |',
    '| `providers[].models[].context` | whole number from 1 |',
    '| `permissions.allow` | list of texts |',
  ])
    assert.ok(config.includes(row), row)
  assert.ok(agentSection().includes('| `mcps[].name` | text | required |'))
})

test('the table of providers contains the variables of each key', () => {
  const rows = providersSection().split('\n')
  const rowOf = (name: string) => rows.find((row) => row.startsWith(`| \`${name}\``)) ?? ''
  assert.match(rowOf('bedrock'), /`AWS_SECRET_ACCESS_KEY`.*`AWS_REGION`/)
  assert.match(rowOf('azure'), /your own: `AZURE_OPENAI_DEPLOYMENT` or .*`AZURE_RESOURCE_NAME` instead/)
})

test('the configuration page names every variable of AWS and Azure that is read, and no other', async () => {
  const root = join(import.meta.dirname, '../..')
  const read = await namesIn(
    glob('src/core/provider/*.ts', { cwd: root }),
    root,
    /(?<=')(AWS|AZURE)_\w+(?=')/g,
  )
  const documented = await namesIn(['docs/configuration.md'], root, /(?<=`)(AWS|AZURE)_\w+(?=`)/g)
  assert.deepEqual([...documented].sort(), [...read].sort())
})

async function namesIn(
  paths: Iterable<string> | AsyncIterable<string>,
  root: string,
  form: RegExp,
): Promise<Set<string>> {
  const texts: string[] = []
  for await (const path of paths) texts.push(await readFile(join(root, path), 'utf8'))
  return new Set(texts.flatMap((text) => text.match(form) ?? []))
}
