import assert from 'node:assert/strict'
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openProcessHost } from '../../../src/core/process/process-host.ts'
import { toVaultHelper } from '../../../src/core/provider/helper-keys.ts'
import { type HelperKeysNode, openHelperKeys } from '../../../src/daemon/helper-keys.ts'

const NEVER = new AbortController().signal

test('a key helper runs once, and again after its key was refused or stored keys have changed', async () => {
  await using place = await makePlace()
  const { keys, helper } = place
  await place.write('one')
  const both = await Promise.all([keys.find(helper, undefined, NEVER), keys.find(helper, undefined, NEVER)])
  assert.deepEqual([both, await place.runs()], [['one', 'one'], 1])
  await place.write('two')
  assert.equal(await keys.find(helper, undefined, NEVER), 'one')
  const refused = await Promise.all([keys.find(helper, 'one', NEVER), keys.find(helper, 'one', NEVER)])
  assert.deepEqual([refused, await place.runs()], [['two', 'two'], 2])
  await place.write('three')
  await writeFile(join(place.folder, 'vault.changed'), 'x')
  assert.deepEqual([await keys.find(helper, undefined, NEVER), await place.runs()], ['three', 3])
})

test('a key helper that fails says why without its output, and is run again by the next call', async () => {
  await using place = await makePlace()
  const { keys, helper } = place
  const failure = { kind: 'credentials', message: /its key helper failed: it exited with code 1: cat: / }
  await assert.rejects(keys.find(helper, undefined, NEVER), failure)
  await place.write('two\nlines')
  await assert.rejects(keys.find(helper, undefined, NEVER), ({ message }: Error) => {
    return /what it printed holds a character/.test(message) && !message.includes('lines')
  })
  await place.write('good\n')
  assert.equal(await keys.find(helper, undefined, NEVER), 'good')
})

test('a key of the vault is read without a process where the program can read it', async () => {
  await using place = await makePlace({
    ownCommand: async () => assert.fail('starts a process'),
    readVaultKey: async (provider) => `the key of ${provider}`,
  })
  assert.equal(await place.keys.find(toVaultHelper('work'), undefined, NEVER), 'the key of work')
})

/** Opens helper keys, and a helper that prints what was written last. */
async function makePlace(more: Partial<HelperKeysNode> = {}) {
  const directory = await mkdtempDisposable(join(tmpdir(), 'crab-keys-'))
  const folder = directory.path
  const [key, runs] = [join(folder, 'key'), join(folder, 'runs')]
  const processes = openProcessHost({ pid: process.pid })
  const paths = { home: folder, vaultChanged: join(folder, 'vault.changed') }
  return {
    folder,
    helper: ['/bin/sh', '-c', `printf x >>'${runs}'; cat '${key}'`],
    keys: openHelperKeys({ env: process.env, paths, ...more }, processes, NEVER),
    write: (text: string) => writeFile(key, text),
    runs: async () => (await readFile(runs, 'utf8')).length,
    async [Symbol.asyncDispose]() {
      await processes[Symbol.asyncDispose]()
      await directory.remove()
    },
  }
}
