import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AwsV4Signer } from 'aws4fetch'
import fc from 'fast-check'
import { signatureHeaders } from '../../../src/core/provider/aws-signature.ts'
import { propertyRuns } from '../../support/property-runs.ts'

const NOW = new Date('2026-11-21T17:00:00.000Z')
const CREDENTIALS = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
}

test('signatureHeaders() signs like another implementation, for any path and body', async () => {
  const part = fc.string({ unit: 'grapheme', maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(part, part, fc.option(fc.stringMatching(/^\w{4,20}$/)), async (name, body, token) => {
      const url = new URL(
        `https://bedrock-runtime.eu-west-1.amazonaws.com/model/${encodeURIComponent(`x${name}`)}/converse`,
      )
      const credentials = { ...CREDENTIALS, ...(token && { sessionToken: token }) }
      const request = { method: 'POST', url, body, service: 'bedrock' }
      const own = signatureHeaders(request, { region: 'eu-west-1', credentials }, NOW)
      const other = await new AwsV4Signer({
        ...{ url: url.href, method: 'POST', body, region: 'eu-west-1', service: 'bedrock', ...credentials },
        headers: { 'x-amz-content-sha256': own['x-amz-content-sha256']! },
        datetime: '20261121T170000Z',
      }).sign()
      assert.equal(own['authorization'], other.headers.get('authorization'))
      assert.equal(own['x-amz-security-token'] ?? null, other.headers.get('x-amz-security-token'))
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

test('signatureHeaders() leaves unsigned headers to the sender', () => {
  const url = new URL('http://127.0.0.1:1/model/a%3A0/converse')
  const request = { method: 'POST', url, body: '', service: 'bedrock' }
  const headers = signatureHeaders(request, { region: 'us-east-1', credentials: CREDENTIALS }, NOW)
  assert.deepEqual(Object.keys(headers).toSorted(), ['authorization', 'x-amz-content-sha256', 'x-amz-date'])
  assert.match(headers['authorization']!, /SignedHeaders=host;x-amz-content-sha256;x-amz-date, /)
})
