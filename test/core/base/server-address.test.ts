import assert from 'node:assert/strict'
import { test } from 'node:test'
import { completeAddress, isServerAddress } from '../../../src/core/base/server-address.ts'

test('completeAddress() adds the scheme that a user means', () => {
  for (const [text, address] of [
    ['127.0.0.1:4517', 'http://127.0.0.1:4517'],
    [' localhost:4000/v1 ', 'http://localhost:4000/v1'],
    ['localhost', 'http://localhost'],
    ['[::1]:8000', 'http://[::1]:8000'],
    ['10.0.0.7', 'http://10.0.0.7'],
    ['gpu-box:8000', 'http://gpu-box:8000'],
    ['api.example.com/v1', 'https://api.example.com/v1'],
    ['https://api.example.com', 'https://api.example.com'],
  ] as const) {
    assert.equal(completeAddress(text), address)
    assert.ok(isServerAddress(text))
  }
})

test('completeAddress() leaves alone what is not an address', () => {
  for (const text of ['gateway', '', 'ftp://example.com', 'two words', 'sk-key', '...', 'mailto:a@b.c']) {
    assert.equal(completeAddress(text), text)
    assert.equal(isServerAddress(text), false, text)
  }
})
