import assert from 'node:assert/strict'
import { mkdir, readFile, readlink, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { writeDefaultModel } from '../../../src/core/config/default-model.ts'
import { temporaryHome } from '../../support/temporary-home.ts'

test('writeDefaultModel() writes through links, also dangling ones', async () => {
  await using home = await temporaryHome()
  const { config } = home.paths
  const dotfiles = join(home.paths.home, 'dotfiles')
  await mkdir(dotfiles, { recursive: true })
  await symlink('dotfiles/link.toml', config)
  await symlink('real.toml', join(dotfiles, 'link.toml'))
  for (const model of ['one', 'two']) {
    await writeDefaultModel({ config }, { model })
    assert.equal(await readFile(join(dotfiles, 'real.toml'), 'utf8'), `model = "${model}"\n`)
    assert.equal(await readlink(config), 'dotfiles/link.toml')
    assert.equal(await readlink(join(dotfiles, 'link.toml')), 'real.toml')
  }
})

test('writeDefaultModel() keeps the other keys next to a dotted key', async () => {
  await using home = await temporaryHome()
  const text = 'llm.model = "a" # big\nllm.base_url = "http://x/v1" # here\n'
  await home.write('config.toml', text)
  await writeDefaultModel(home.paths, { model: 'b' })
  assert.equal(await home.read('config.toml'), text.replace('"a"', '"b"'))
})
