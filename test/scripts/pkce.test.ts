import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { loadCryptoLater } from '../../scripts/sea/pkce.ts'

const installed = new URL('../../node_modules/pkce-challenge/dist/index.node.js', import.meta.url)

test('loadCryptoLater() looks nothing up while the installed package loads, which then works as before', async () => {
  const module = loadCryptoLater(await readFile(installed, 'utf8'))!
  assert.doesNotMatch(module, /\bcrypto =|node:crypto/)
  const { default: pkceChallenge, verifyChallenge } = await import(
    `data:text/javascript,${encodeURIComponent(module)}`
  )
  const { code_verifier: verifier, code_challenge: challenge } = await pkceChallenge()
  assert.equal(await verifyChallenge(verifier, challenge), true)
})

test('loadCryptoLater() refuses a module that begins in another way', () => {
  assert.equal(loadCryptoLater('export const x = 1'), undefined)
})
