import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentSection, configSection } from '../../scripts/docs/configuration.ts'
import { plain, replaceSections, table } from '../../scripts/docs/sections.ts'

test('replaceSections() makes its sections anew and leaves the rest', () => {
  const page = 'a\n<!-- generated x -->\nold\n<!-- end -->\nb\n<!-- generated y -->\n<!-- end -->\n'
  const made = replaceSections('page.md', page, { x: () => 'X\n', y: () => 'Y' })
  assert.equal(
    made,
    'a\n<!-- generated x -->\n\nX\n\n<!-- end -->\nb\n<!-- generated y -->\n\nY\n\n<!-- end -->\n',
  )
  assert.equal(replaceSections('page.md', made, { x: () => 'X', y: () => 'Y' }), made)
})

test('replaceSections() refuses a page without the section', () => {
  assert.throws(
    () => replaceSections('page.md', 'a\n', { x: () => 'X' }),
    /docs\/page\.md: it has no section x/,
  )
  assert.throws(() => replaceSections('page.md', '<!-- generated x -->\n', { x: () => 'X' }), /no section x/)
})

test('table() and plain() keep bars and stars what they are', () => {
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
  assert.ok(agentSection().includes('| `mcps[].name` | text | needed |'))
})
