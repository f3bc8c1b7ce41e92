import assert from 'node:assert/strict'
import { chmod, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { type OpenVaultHome, openCredentials, openVaultHome } from '../../src/commands/vault/home.ts'
import { createVault, openOrCreateVault, openVault, rotateVaultKey } from '../../src/edge/vault/vault.ts'
import { installKeyring } from '../support/keyring.ts'
import { makeTestHost, type TestHost, type TestHostOptions } from '../support/test-host.ts'

const NEVER = new AbortController().signal
const PLANTED = 'ghp_planted0123456789abcdefghijklmnopqrst'

test('a vault gives back what was stored, and its file shows neither names nor values', async () => {
  await using place = await makePlace()
  const { vault, created } = await openOrCreateVault(place.home, NEVER)
  assert.deepEqual(created, { keySource: 'file' })
  await vault.set({ GITHUB_TOKEN: PLANTED, 'provider:anthropic': 'sk-ant-1' }, NEVER)
  await vault.set({ GITHUB_TOKEN: `${PLANTED}2`, EMPTY: '' }, NEVER)
  assert.equal(await vault.get('GITHUB_TOKEN'), `${PLANTED}2`)
  assert.equal(await vault.get('EMPTY'), '')
  assert.equal(await vault.get('MISSING'), undefined)
  assert.deepEqual(
    (await vault.list()).map(({ name }) => name),
    ['EMPTY', 'GITHUB_TOKEN', 'provider:anthropic'],
  )
  assert.equal(await vault.remove('EMPTY', NEVER), true)
  assert.equal(await vault.remove('EMPTY', NEVER), false)
  const text = await readFile(place.home.paths.vault, 'utf8')
  for (const secret of [PLANTED, 'GITHUB_TOKEN', 'anthropic', 'sk-ant-1']) assert.ok(!text.includes(secret))
  assert.equal((await stat(place.home.paths.vault)).mode & 0o777, 0o600)
  await assert.rejects(vault.set({ 'A=B': 'x' }, NEVER), { kind: 'usage' })
  assert.deepEqual(await vault.add({ NEW: '1', GITHUB_TOKEN: `${PLANTED}2` }, NEVER), ['NEW'])
  await assert.rejects(vault.add({ NEWER: '1', NEW: '2' }, NEVER), { kind: 'conflict', message: /NEW: / })
  assert.deepEqual([await vault.get('NEW'), await vault.get('NEWER')], ['1', undefined])
})

test('a vault with any byte flipped or any end cut off fails, or gives back exactly what was stored', async () => {
  await using place = await makePlace()
  const { vault } = await openOrCreateVault(place.home, NEVER)
  await vault.set({ TOKEN: PLANTED }, NEVER)
  const path = place.home.paths.vault
  const whole = await readFile(path)
  const kinds = new Map<string, number>()
  const tryBytes = async (bytes: Buffer) => {
    await writeFile(path, bytes)
    const read = async () => (await openVault(place.home))?.get('TOKEN')
    const result = (await read().catch(({ kind }: { kind: string }) => kind)) ?? 'none'
    kinds.set(result, (kinds.get(result) ?? 0) + 1)
    assert.ok(['storage', 'credentials', 'config', PLANTED].includes(result), result)
  }
  for (let at = 0; at < whole.length; at++) {
    const flipped = Buffer.from(whole)
    flipped.writeUInt8(whole.readUInt8(at) ^ 1, at)
    await tryBytes(flipped)
  }
  assert.ok((kinds.get(PLANTED) ?? 0) < 8, `${kinds.get(PLANTED)}`) // bits of base64 that mean nothing
  kinds.clear()
  for (let length = 0; length < whole.length; length += 7) await tryBytes(whole.subarray(0, length))
  assert.deepEqual([...kinds.keys()], ['storage'])
  await writeFile(path, whole)
  assert.equal(await vault.get('TOKEN'), PLANTED)
})

test('a wrong key is refused by name, and changes nothing', async () => {
  await using place = await makePlace({ CRABTALK_VAULT_KEY: 'correct horse battery staple' })
  const { vault, created } = await openOrCreateVault(place.home, NEVER)
  assert.deepEqual(created, { keySource: 'environment' })
  await vault.set({ TOKEN: PLANTED }, NEVER)
  const before = await readFile(place.home.paths.vault)
  assert.match(before.toString(), /"memory_kib": 19456,\s+"passes": 2/) // a passphrase costs what OWASP asks for
  const wrong = await openVault({ ...place.home, env: { CRABTALK_VAULT_KEY: 'another key' } })
  const refusal = { kind: 'credentials', message: /the key in CRABTALK_VAULT_KEY does not fit/ }
  await assert.rejects(wrong!.get('TOKEN'), refusal)
  await assert.rejects(wrong!.set({ TOKEN: 'x' }, NEVER), refusal)
  const without = await openVault({ ...place.home, env: {} })
  await assert.rejects(without!.get('TOKEN'), { kind: 'credentials', hint: /set CRABTALK_VAULT_KEY/ })
  assert.deepEqual(await readFile(place.home.paths.vault), before)
})

test('the key comes from the environment, else from the helper, else from the place in the vault', async () => {
  await using place = await makePlace()
  const secretFile = join(place.one.folder, 'the key')
  const key = 'c'.repeat(64)
  await writeFile(secretFile, `${key}\n`)
  const helper = { ...place.home, env: { ...process.env, CRABTALK_VAULT_KEY_HELPER: `cat '${secretFile}'` } }
  assert.equal(await createVault(helper, undefined, NEVER), 'helper')
  assert.equal(await createVault(helper, undefined, NEVER), undefined)
  const vault = await openVault(helper)
  await vault!.set({ TOKEN: PLANTED }, NEVER)
  const same = await openVault({ ...place.home, env: { CRABTALK_VAULT_KEY: key } })
  assert.equal(await same!.get('TOKEN'), PLANTED)
  await rm(secretFile)
  await assert.rejects((await openVault(helper))!.get('TOKEN'), {
    kind: 'credentials',
    message: /exited with code 1: cat: /,
  })
})

test('an open vault asks for its key once, and still gives back what was stored later', async () => {
  await using place = await makePlace()
  const runs = join(place.one.folder, 'runs')
  const line = `sh -c 'printf x >> "${runs}"; printf ${'c'.repeat(64)}'`
  const home = { ...place.home, env: { ...process.env, CRABTALK_VAULT_KEY_HELPER: line } }
  const resolver = openCredentials(home)
  const find = async (name: string) => (await resolver.find(name))?.value
  assert.equal(await find('A'), undefined)
  const other = (await openOrCreateVault(home, NEVER)).vault
  await other.set({ A: 'one', B: 'two' }, NEVER)
  await writeFile(runs, '')
  assert.deepEqual([await find('A'), await find('B'), await find('C')], ['one', 'two', undefined])
  await other.set({ A: 'three' }, NEVER)
  await writeFile(home.paths.dotEnv, 'C=four')
  assert.deepEqual([await find('A'), await find('B'), await find('C')], ['three', 'two', 'four'])
  await writeFile(home.paths.dotEnv, 'C=five!')
  assert.equal(await find('C'), 'five!')
  assert.equal(await readFile(runs, 'utf8'), 'x')
  await writeFile(runs, '')
  const { find: findAgain } = openCredentials(home)
  const found = await Promise.all(['A', 'B', 'A', 'C'].map(findAgain))
  assert.deepEqual(
    found.map((one) => one?.value),
    ['three', 'two', 'three', 'five!'],
  )
  assert.equal(await readFile(runs, 'utf8'), 'x', 'callers at the same time share the key')
  await rotateVaultKey(home, { source: 'file' }, NEVER)
  await assert.rejects(find('A'), { kind: 'credentials' })
})

test('changes are announced unless no user made them', async () => {
  await using place = await makePlace()
  const stamp = async () => (await stat(place.home.paths.vaultChanged)).mtimeMs
  let now = Date.now()
  const home = { ...place.home, now: () => (now += 1000) }
  const { vault } = await openOrCreateVault(home, NEVER)
  await vault.set({ A: '1' }, NEVER)
  const stamps = [await stamp()]
  await (await openVault({ ...home, isQuiet: true }))!.set({ A: '2' }, NEVER)
  assert.equal(await stamp(), stamps[0])
  await vault.remove('A', NEVER)
  stamps.push(await stamp())
  await rotateVaultKey(home, { source: 'file' }, NEVER)
  stamps.push(await stamp())
  assert.equal(new Set(stamps).size, 3)
})

test('a key file that other users can read is refused', async () => {
  await using place = await makePlace()
  const { vault } = await openOrCreateVault(place.home, NEVER)
  await vault.set({ TOKEN: PLANTED }, NEVER)
  const [file = ''] = await readdir(place.home.paths.vaultKeys)
  const path = join(place.home.paths.vaultKeys, file)
  assert.equal((await stat(path)).mode & 0o777, 0o600)
  await chmod(path, 0o644)
  const get = async () => (await openVault(place.home))!.get('TOKEN')
  await assert.rejects(get(), { kind: 'credentials', message: /other users can read it/ })
  await rm(path)
  await assert.rejects(get(), { kind: 'credentials', message: /is missing or empty/ })
})

test('the keychain is used through its program, which gets the key on standard input only', async () => {
  await using place = await makePlace({}, { withKeychain: true })
  const { vault, created } = await openOrCreateVault(place.home, NEVER)
  assert.deepEqual(created, { keySource: 'keychain' })
  await vault.set({ TOKEN: PLANTED }, NEVER)
  assert.equal(await (await openVault(place.home))!.get('TOKEN'), PLANTED)
  const calls = await readFile(join(place.one.folder, 'calls'), 'utf8')
  assert.match(
    calls,
    /^store --label=Key of the crabtalk vault application crabtalk vault \w{32} key \w{26}\n/,
  )
  assert.doesNotMatch(calls, /[0-9a-f]{64}/)
  await rotateVaultKey(place.home, { source: 'file' }, NEVER)
  assert.equal(await vault.get('TOKEN'), PLANTED)
  assert.deepEqual(await readdir(join(place.one.folder, 'keyring')), [])
  await rm(join(place.one.folder, 'bin/secret-tool'))
  await assert.rejects(rotateVaultKey(place.home, { source: 'keychain' }, NEVER), { kind: 'unavailable' })
  assert.equal(await vault.get('TOKEN'), PLANTED)
})

test('a rotation replaces the key, and the old one no longer opens the vault', async () => {
  await using place = await makePlace({ CRABTALK_VAULT_KEY: 'old passphrase' })
  const { vault } = await openOrCreateVault(place.home, NEVER)
  await vault.set({ TOKEN: PLANTED }, NEVER)
  await rotateVaultKey(place.home, { source: 'environment', secret: 'new passphrase' }, NEVER)
  await assert.rejects(vault.get('TOKEN'), { kind: 'credentials' })
  const next = await openVault({ ...place.home, env: { CRABTALK_VAULT_KEY: 'new passphrase' } })
  assert.equal(await next!.get('TOKEN'), PLANTED)
})

test('a vault opens after its home was moved', async () => {
  await using place = await makePlace()
  const { vault } = await openOrCreateVault(place.home, NEVER)
  await vault.set({ TOKEN: PLANTED }, NEVER)
  const moved = join(place.one.folder, 'elsewhere')
  await rename(place.home.paths.home, moved)
  await using home = await openVaultHome({ ...place.one.host, env: { CRABTALK_HOME: moved } })
  assert.equal(await (await openVault(home))!.get('TOKEN'), PLANTED)
})

test('100 concurrent writes are all kept', async () => {
  await using place = await makePlace()
  const homes = await Promise.all(Array.from({ length: 2 }, () => openVaultHome(place.one.host)))
  await Promise.all(
    Array.from({ length: 100 }, async (_, i) => {
      const { vault } = await openOrCreateVault(homes[i % 2]!, NEVER)
      await vault.set({ [`TOKEN_${i}`]: `${i}` }, NEVER)
    }),
  )
  const stored = await (await openVault(place.home))!.list()
  assert.equal(stored.length, 100)
  assert.equal((await readdir(place.home.paths.vaultKeys)).length, 1)
  for (const home of homes) await home[Symbol.asyncDispose]()
})

test('a credential comes from the vault, then .env, then the environment, then the user', async () => {
  await using place = await makePlace({ B: 'from the environment', C: 'from the environment' })
  const questions: string[] = []
  const resolve = () =>
    openCredentials(place.home, async (name) => {
      questions.push(name)
      return name === 'D' ? 'typed' : undefined
    })
  const find = async (name: string) => {
    const { value, source } = (await resolve().find(name)) ?? {}
    return [value, source?.kind]
  }
  assert.deepEqual(await find('A'), [undefined, undefined])
  await mkdir(place.home.paths.home, { recursive: true })
  await writeFile(place.home.paths.dotEnv, "# mine\nexport A='from .env' # note\nB=from .env\nE=\n")
  const { vault } = await openOrCreateVault(place.home, NEVER)
  await vault.set({ A: 'from the vault' }, NEVER)
  assert.deepEqual(await find('A'), ['from the vault', 'vault'])
  assert.deepEqual(await find('B'), ['from .env', 'env-file'])
  assert.deepEqual(await find('C'), ['from the environment', 'environment'])
  assert.deepEqual(await find('D'), ['typed', 'prompt'])
  assert.deepEqual(questions, ['A', 'D'])
  const { source } = (await resolve().find('B'))!
  assert.deepEqual(source, { kind: 'env-file', path: place.home.paths.dotEnv, line: 3 })
})

interface Place extends AsyncDisposable {
  one: TestHost
  home: OpenVaultHome
}

/** Opens a home without a vault; `withKeychain` puts a secret-tool on PATH that keeps its secrets in files. */
async function makePlace(env: TestHostOptions['env'] = {}, { withKeychain = false } = {}): Promise<Place> {
  const one = await makeTestHost()
  const bin = join(one.folder, 'bin')
  await mkdir(bin)
  const keyring = withKeychain ? await installKeyring(one.folder, bin) : {}
  const path = withKeychain ? `${bin}:${process.env['PATH']}` : bin // this machine may have a keychain
  const own = { PATH: path, ...keyring, ...env }
  const home = await openVaultHome({ ...one.host, env: own })
  return {
    one,
    home,
    async [Symbol.asyncDispose]() {
      await home[Symbol.asyncDispose]()
      await one[Symbol.asyncDispose]()
    },
  }
}
