import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RemoteTarget } from '../../../src/mcp/fingerprint.ts'
import { validateHeaders } from '../../../src/mcp/remote/header-rules.ts'

test('validateHeaders() accepts what HTTP can carry, with one source of credentials', () => {
  for (const changes of [
    {},
    { headers: { 'X-Team': 'a b\tc', 'User-Agent': 'mine', Cookie: 'a=b', Authorization: 'Basic x' } },
    { auth: 'token' },
    { authHelper: ['helper'] },
    { authHelper: ['helper'], headers: { Authorization: 'Basic x' } },
    { url: 'https://me:pw@h/mcp' },
    { headers: { 'X-Name': 'Müller' } },
  ]) {
    assert.equal(validateHeaders(target(changes)), undefined, JSON.stringify(changes))
  }
})

test('validateHeaders() reports a header that belongs to the connection, in any case', () => {
  for (const name of [
    ...[
      'Host',
      'content-length',
      'Connection',
      'Transfer-Encoding',
      'ACCEPT',
      'Content-Type',
      'Upgrade',
      'TE',
    ],
    ...[
      'Mcp-Session-Id',
      'mcp-protocol-version',
      'MCP-Method',
      'mcp-name',
      'Mcp-Param-Region',
      'Last-Event-ID',
    ],
    ...['Keep-Alive', 'Trailer', 'Expect', 'Proxy-Authorization', 'Sec-Fetch-Mode', 'Accept-Encoding'],
  ]) {
    assert.equal(
      validateHeaders(target({ headers: { [name]: 'x' } })),
      `the header "${name}" cannot be set: it belongs to the connection`,
    )
  }
})

test('validateHeaders() reports what cannot be sent, without its value', () => {
  for (const value of ['a\nb', 'a\r\nX: y', '\0', '日本', '\x7f']) {
    assert.equal(
      validateHeaders(target({ headers: { 'X-Key': value } })),
      'the value of the header "X-Key" has characters that are not allowed in a header',
    )
  }
  assert.match(validateHeaders(target({ headers: { 'X Key': 'v' } }))!, /"X Key" is not a valid header name/)
  assert.match(validateHeaders(target({ headers: { 'X-A': '1', 'x-a': '2' } }))!, /"x-a" is set twice/)
  for (const auth of ['', '  ', 'tok\nen', 'шифр'])
    assert.match(validateHeaders(target({ auth }))!, /^"auth" is empty or/)
})

test('validateHeaders() reports two sources of credentials', () => {
  for (const [changes, words] of [
    [
      { auth: 't', headers: { AUTHORIZATION: 'x' } },
      'the header "Authorization" and "auth" clash: use one of them',
    ],
    [{ auth: 't', authHelper: ['h'] }, '"auth" and "auth_helper" clash: use one of them'],
    [{ auth: 't', url: 'https://me@h/' }, '"auth" and the user in "url" clash: use one of them'],
  ] as const) {
    assert.equal(validateHeaders(target(changes)), words)
  }
})

function target(changes: Partial<RemoteTarget>): RemoteTarget {
  const none = { auth: undefined, authHelper: undefined }
  return { transport: 'http', url: 'https://h.example/mcp', headers: {}, ...none, ...changes }
}
