import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatEndpoint } from '../../../src/core/transport/endpoint.ts'
import { daemonSocketEndpoint } from '../../../src/core/transport/local-endpoint.ts'

const linux = { env: {}, platform: 'linux', uid: 1000, tmpDir: '/tmp' } as const

test('daemonSocketEndpoint() is the socket in run/ up to 100 bytes', () => {
  const run = `/${'a'.repeat(85)}`
  assert.deepEqual(daemonSocketEndpoint({ ...linux, run }), {
    endpoint: { kind: 'unix', path: `${run}/crabtalk.sock` },
  })
  assert.equal(`${run}/crabtalk.sock`.length, 100)
})

test('daemonSocketEndpoint() of a longer path, in bytes, is outside the home, named by an address file', () => {
  for (const run of [`/${'a'.repeat(86)}`, `/${'é'.repeat(43)}`]) {
    const { endpoint, addressFile } = daemonSocketEndpoint({ ...linux, run })
    assert.match(formatEndpoint(endpoint), /^unix:\/tmp\/crabtalk-1000-[0-9a-f]{16}\.sock$/)
    assert.equal(addressFile, `${run}/crabtalk.addr`)
  }
})

test('daemonSocketEndpoint() prefers $XDG_RUNTIME_DIR, and differs between homes', () => {
  const env = { XDG_RUNTIME_DIR: '/run/user/1000' }
  const paths = ['a', 'b'].map((letter) => {
    const { endpoint } = daemonSocketEndpoint({ ...linux, env, run: `/${letter.repeat(100)}` })
    return formatEndpoint(endpoint)
  })
  assert.match(paths[0]!, /^unix:\/run\/user\/1000\/crabtalk-1000-/)
  assert.notEqual(paths[0], paths[1])
  const { endpoint } = daemonSocketEndpoint({
    ...linux,
    env: { XDG_RUNTIME_DIR: '' },
    run: `/${'a'.repeat(100)}`,
  })
  assert.match(formatEndpoint(endpoint), /^unix:\/tmp\//)
})

test("daemonSocketEndpoint() on Windows is one named pipe for all spellings of the home's path", () => {
  const pipe = (run: string) => daemonSocketEndpoint({ ...linux, platform: 'win32', run })
  const { endpoint, addressFile } = pipe('C:\\Users\\Ann\\.crabtalk\\run')
  assert.match(formatEndpoint(endpoint), /^pipe:\\\\\.\\pipe\\crabtalk-[0-9a-f]{16}$/)
  assert.equal(addressFile, undefined)
  assert.deepEqual(pipe('c:\\users\\ann\\.crabtalk\\RUN'), pipe('C:\\Users\\Ann\\.crabtalk\\run'))
  assert.notDeepEqual(pipe('C:\\Users\\Bob\\.crabtalk\\run'), pipe('C:\\Users\\Ann\\.crabtalk\\run'))
})

test('formatEndpoint() puts an IPv6 address into brackets', () => {
  assert.equal(formatEndpoint({ kind: 'tcp', host: '127.0.0.1', port: 6688 }), 'tcp:127.0.0.1:6688')
  assert.equal(formatEndpoint({ kind: 'tcp', host: '::1', port: 6688 }), 'tcp:[::1]:6688')
})
