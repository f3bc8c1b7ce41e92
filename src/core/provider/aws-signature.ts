import { createHash, createHmac } from 'node:crypto'
import type { AwsCredentials } from './aws.ts'

/** A request to sign: its URL must not have a query, and its body is signed as it is sent. */
export interface SignedRequest {
  method: string
  url: URL
  body: string
  service: string
}

/**
 * Returns the headers that sign a request for AWS (Signature Version 4): `authorization`, `x-amz-date`,
 * `x-amz-content-sha256` and, with temporary credentials, `x-amz-security-token`. Only these and the host are
 * signed, so the caller may add other headers.
 */
export function signatureHeaders(
  { method, url, body, service }: SignedRequest,
  { region, credentials }: { region: string; credentials: AwsCredentials },
  now: Date,
): Record<string, string> {
  const time = now.toISOString().replace(/[-:]|\.\d+/g, '')
  const scope = [time.slice(0, 8), region, service, 'aws4_request']
  const hash = sha256(body)
  const { accessKeyId, secretAccessKey, sessionToken } = credentials
  const headers: Record<string, string> = {
    host: url.host,
    'x-amz-content-sha256': hash,
    'x-amz-date': time,
    ...(sessionToken !== undefined && { 'x-amz-security-token': sessionToken }),
  }
  const names = Object.keys(headers).toSorted()
  const lines = names.map((name) => `${name}:${headers[name]}\n`).join('')
  const canonical = [method, encodePath(url), NO_QUERY, lines, names.join(';'), hash].join('\n')
  const text = ['AWS4-HMAC-SHA256', time, scope.join('/'), sha256(canonical)].join('\n')
  const key = scope.reduce<string | Buffer>((secret, part) => hmac(secret, part), `AWS4${secretAccessKey}`)
  const { host: _, ...sent } = headers
  return {
    ...sent,
    authorization: [
      `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope.join('/')}`,
      `SignedHeaders=${names.join(';')}`,
      `Signature=${hmac(key, text).toString('hex')}`,
    ].join(', '),
  }
}

/** Encodes each part of the path a second time, as every service except S3 requires. */
function encodePath({ pathname }: URL): string {
  return pathname.split('/').map(encode).join('/')
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

const NO_QUERY = ''
