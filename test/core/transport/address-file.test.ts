import assert from 'node:assert/strict'
import { chown, mkdir, mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { freePath, readAddressFile, writeAddress } from '../../../src/core/transport/address-file.ts'
import { listen } from '../../../src/core/transport/listen.ts'

test('readAddressFile() finds a socket outside the home, unless it belongs to another user', async () => {
  await using place = await makePlace()
  const { endpoint, addressFile } = place
  assert.equal(await readAddressFile({ endpoint, addressFile }), undefined)
  await using listener = await listen(endpoint, { ...LISTEN, addressFile })
  assert.deepEqual(listener.endpoint, endpoint)
  assert.deepEqual(await readAddressFile({ endpoint, addressFile }), endpoint)
  if (process.getuid?.() !== 0) return // only root can give it away
  await chown(endpoint.path, 12_345, 12_345)
  assert.equal(await readAddressFile({ endpoint, addressFile }), undefined)
})

test('listen() uses another path if another user has the one outside the home', async () => {
  await using place = await makePlace()
  const { endpoint, addressFile } = place
  await writeFile(endpoint.path, '')
  if (process.getuid?.() === 0) {
    await chown(endpoint.path, 12_345, 12_345)
    await using listener = await listen(endpoint, { ...LISTEN, addressFile })
    assert.notDeepEqual(listener.endpoint, endpoint)
    assert.deepEqual(await readAddressFile({ endpoint, addressFile }), listener.endpoint)
  } else {
    assert.notEqual(await freePath(endpoint.path, '/usr/crabtalk.addr'), endpoint.path) // root's folder: as if root asked
  }
})

test('freePath() keeps a path that is free, or our own', async () => {
  await using place = await makePlace()
  const { endpoint, addressFile } = place
  assert.equal(await freePath(endpoint.path, addressFile), endpoint.path)
  await writeFile(endpoint.path, '')
  assert.equal(await freePath(endpoint.path, addressFile), endpoint.path)
})

test('readAddressFile() treats an address file without a socket as no daemon', async () => {
  await using place = await makePlace()
  const { endpoint, addressFile } = place
  await writeAddress(addressFile, 'relative.sock')
  assert.equal(await readAddressFile({ endpoint, addressFile }), undefined)
})

const LISTEN = {
  dispatch: async function* () {},
  graceMs: 0,
  onError: () => {},
}

async function makePlace() {
  const dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  await mkdir(join(dir.path, 'run'))
  return {
    endpoint: { kind: 'unix', path: join(dir.path, 'crabtalk-0-x.sock') } as const,
    addressFile: join(dir.path, 'run', 'crabtalk.addr'),
    [Symbol.asyncDispose]: () => dir[Symbol.asyncDispose](),
  }
}
