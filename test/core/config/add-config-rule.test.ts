import assert from 'node:assert/strict'
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { addConfigRule } from '../../../src/core/config/change-config.ts'

test('addConfigRule() adds a rule once, in whatever normalization of Unicode', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const config = join(folder.path, 'config.toml')
  await writeFile(config, '[permissions]\nallow = ["edit(caf\u00e9.md)"]\n')
  await addConfigRule({ config }, { effect: 'allow', pattern: 'edit(cafe\u0301.md)' })
  await addConfigRule({ config }, { effect: 'allow', pattern: 'edit(tea.md)' })
  const text = await readFile(config, 'utf8')
  assert.deepEqual(text.match(/edit\([^)]*\)/g), ['edit(caf\u00e9.md)', 'edit(tea.md)'])
})
