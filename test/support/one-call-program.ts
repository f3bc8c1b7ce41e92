/**
 * A program that makes one model call: `node BUNDLED KIND BASE_URL WIRE`. Prints, as JSON, the answer, the
 * environment variables that were read meanwhile, and whether Node's built-in HTTP client was loaded. It is
 * bundled like the binary's chunks, because ES module imports load more of Node.
 */
import type { Wire } from '../../src/core/provider/address.ts'
import type { ModelEndpoint } from '../../src/core/provider/endpoint.ts'
import { callEndpoint } from '../../src/core/provider/source.ts'
import { endpointAt, joinText, modelRequest } from './model-calls.ts'

const [kind, baseUrl = '', wire] = process.argv.slice(2)
const read = new Set<string>()
process.env = new Proxy(process.env, {
  get(env, name) {
    read.add(String(name))
    return Reflect.get(env, name)
  },
})
callOnce().then((said) => {
  const loaded = (process as { moduleLoadList?: string[] }).moduleLoadList ?? []
  const client = loaded.some((name) => name.endsWith('deps/undici/undici'))
  process.stdout.write(JSON.stringify({ said, read: [...read], client }))
})

async function callOnce(): Promise<string> {
  const aws = { region: 'eu-west-1', credentials: { accessKeyId: 'AKID', secretAccessKey: 'secret' } }
  const endpoint = endpointAt(baseUrl, {
    ...{ kind: kind as ModelEndpoint['kind'], wire: wire as Wire },
    ...(kind === 'bedrock' && { apiKey: undefined, aws }),
  })
  const request = modelRequest({ system: 'Be brief.', thinking: true })
  const events = callEndpoint(() => endpoint, request, new AbortController().signal)
  return joinText(await Array.fromAsync(events))
}
