import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { chooseClient } from '../../../src/mcp/oauth/authorize.ts'
import type { AuthorizationServer } from '../../../src/mcp/oauth/types.ts'
import { scriptedServer, sendJson } from '../../support/mcp/http/scripted-server.ts'

const DOCUMENT = new URL('../../../packaging/client-metadata.json', import.meta.url)

test('chooseClient() uses a metadata document where the authorization server takes them, else registers', async () => {
  const { client_id: id, redirect_uris: redirects } = JSON.parse(await readFile(DOCUMENT, 'utf8'))
  await using registry = await scriptedServer({
    play: (_, response) => {
      const registered = { client_id: 'registered', redirect_uris: ['http://127.0.0.1:4000/callback'] }
      sendJson(response, registered, 201)
      return true
    },
  })
  const choose = async (takesDocuments: boolean) => {
    const server: AuthorizationServer = {
      address: registry.origin,
      metadata: {
        issuer: registry.origin,
        authorization_endpoint: `${registry.origin}/authorize`,
        token_endpoint: `${registry.origin}/token`,
        registration_endpoint: `${registry.origin}/register`,
        response_types_supported: ['code'],
        client_id_metadata_document_supported: takesDocuments,
      },
      resource: undefined,
      scope: undefined,
    }
    const redirectUrl = 'http://127.0.0.1:4000/callback'
    const choices = { given: { client_id: id }, stored: undefined, redirectUrl }
    const fetcher = { fetch, check: async () => {} }
    return (await chooseClient(server, choices, fetcher)).client_id
  }
  assert.equal(await choose(true), id)
  assert.equal(registry.arrivals.length, 0)
  assert.equal(await choose(false), 'registered')
  assert.deepEqual(
    registry.arrivals.map(({ path }) => path),
    ['/register'],
  )
  assert.deepEqual(redirects, ['http://127.0.0.1/callback'])
})
