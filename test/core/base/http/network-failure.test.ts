import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CrabError } from '../../../../src/core/base/errors.ts'
import { toNetworkFailure } from '../../../../src/core/base/http/network-failure.ts'

const URL_OF_SERVER = new URL('https://far.example.com/mcp')
const failure = (code: string, message = 'm', more: object = {}) =>
  toNetworkFailure(Object.assign(new Error(message), { code, ...more }), URL_OF_SERVER)

test('toNetworkFailure() returns the reason in words, or the message in one line', () => {
  assert.equal(failure('ECONNREFUSED')?.reason, 'connection refused')
  assert.equal(failure('E_OTHER', 'two\n  lines')?.reason, 'two lines')
  assert.equal(failure('E_OTHER', ' ')?.reason, 'E_OTHER')
  assert.equal(
    failure(
      'EPROTO',
      '00AA:error:0A00010B:SSL routines:tls_validate_record_header:wrong version number:x.c:1:',
    )?.reason,
    'the server does not speak TLS',
  )
  assert.equal(
    failure('EPROTO', '00AA:error:0A000410:SSL routines:ssl3_read_bytes:handshake failure:x.c:1:')?.reason,
    'TLS failed: handshake failure',
  )
})

test('toNetworkFailure() names the proxy when that is what failed', () => {
  const refused = failure('ECONNREFUSED', 'm', { address: '127.0.0.1', port: 9 })
  assert.deepEqual([refused?.isProxy, refused?.reason], [true, 'the proxy 127.0.0.1:9: connection refused'])
  assert.equal(failure('ENOTFOUND', 'm', { hostname: 'p' })?.reason, 'the proxy p: host not found')
  for (const own of [{ address: '10.0.0.1', port: 443 }, { hostname: 'far.example.com' }, {}]) {
    assert.equal(failure('ECONNREFUSED', 'm', own)?.isProxy, false)
  }
})

test('toNetworkFailure() uses the code of the first attempt when all addresses of a host failed', () => {
  const attempts = [Object.assign(new Error('a'), { code: 'ENETUNREACH' }), new Error('b')]
  assert.equal(
    toNetworkFailure(new AggregateError(attempts, 'all'), URL_OF_SERVER)?.reason,
    'the network is down',
  )
})

test('toNetworkFailure() knows what another attempt does not change', () => {
  const lasting = ['CERT_HAS_EXPIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'ERR_TLS_CERT_ALTNAME_INVALID']
  for (const code of [...lasting, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'HPE_INVALID_CONSTANT']) {
    assert.equal(failure(code)?.isLasting, true, code)
  }
  for (const code of ['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EAI_AGAIN', 'HPE_INVALID_CHUNK_SIZE']) {
    assert.equal(failure(code)?.isLasting, false, code)
  }
})

test('toNetworkFailure() distinguishes requests that cannot be sent from failures, and ignores other errors', () => {
  assert.equal(failure('ERR_INVALID_CHAR')?.isInvalidRequest, true)
  assert.equal(failure('ERR_UNESCAPED_CHARACTERS')?.isInvalidRequest, true)
  assert.equal(failure('ECONNRESET')?.isInvalidRequest, false)
  assert.equal(toNetworkFailure(new TypeError('a bug'), URL_OF_SERVER), undefined)
  assert.equal(toNetworkFailure(new CrabError('timeout', 'Too late'), URL_OF_SERVER), undefined)
  assert.equal(toNetworkFailure(undefined, URL_OF_SERVER), undefined)
})
