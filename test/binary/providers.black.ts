import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { ModelServer, RecordedRequest, Script } from '../support/model-server.ts'
import { startModelServer } from '../support/model-server.ts'
import { makeSandbox } from '../support/run-binary.ts'
import { assertFailed } from '../support/talk.ts'

const KEY = 'sk-secret-0123456789'
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const errorBody = (message: string) => ({ message, error: { message } })

/** A provider that is configured by environment variables only. */
interface Provider {
  name: string
  path: RegExp
  /** The signed thinking and calls that the next request of a turn must contain. */
  returns: readonly string[]
  env(root: string): Record<string, string>
}

const PROVIDERS: readonly Provider[] = [
  {
    name: 'groq',
    path: /^\/v1\/chat\/completions$/,
    returns: ['Hm.'],
    env: (root) => ({ GROQ_API_KEY: KEY, GROQ_BASE_URL: `${root}/v1` }),
  },
  {
    name: 'anthropic',
    path: /^\/v1\/messages$/,
    returns: ['c2lnbmVk'],
    env: (root) => ({ ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: root }),
  },
  {
    name: 'openai',
    path: /^\/v1\/responses$/,
    returns: ['c2lnbmVk'],
    env: (root) => ({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${root}/v1/responses` }),
  },
  {
    name: 'gemini',
    path: /^\/v1beta\/models\/gemini-[\w.-]+:streamGenerateContent\?alt=sse$/,
    returns: ['c2lnbmVk', 'Y2FsbGVk'],
    env: (root) => ({ GEMINI_API_KEY: KEY, GEMINI_BASE_URL: root }),
  },
  {
    name: 'bedrock',
    path: /^\/model\/global\.anthropic\.claude-[\w.-]+\/converse-stream$/,
    returns: ['c2lnbmVk'],
    env: (root) => ({
      AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
      AWS_SECRET_ACCESS_KEY: KEY,
      AWS_REGION: 'eu-west-1',
      AWS_ENDPOINT_URL_BEDROCK_RUNTIME: root,
    }),
  },
  {
    name: 'azure',
    path: /^\/openai\/v1\/responses$/,
    returns: ['c2lnbmVk'],
    env: (root) => ({
      AZURE_OPENAI_API_KEY: KEY,
      AZURE_OPENAI_ENDPOINT: root,
      AZURE_OPENAI_DEPLOYMENT: 'our-gpt',
    }),
  },
]

for (const { name, path, returns, env } of PROVIDERS) {
  describe(`crabtalk send with the variables of ${name}`, () => {
    test('prints the answer of the model', async () => {
      await using setting = await open(() => ({ parts: ['Hello', ' there'], usage: { input: 3, output: 2 } }))
      const { stdout, stderr, code } = await setting.send(['hello'])
      assert.deepEqual([stdout, stderr, code], ['Hello there\n', '', 0])
      assert.match(setting.server.requests[0]?.path ?? '', path)
    })

    test('runs the tool call, keeps the keys from the tool, and returns its result and the signatures', async () => {
      const thought = { thinking: 'Hm.', signature: 'c2lnbmVk' }
      const command = '{"command":"echo crab; env"}'
      const call = { call: 'call_1', name: 'bash', args: command, signature: 'Y2FsbGVk' }
      await using setting = await open((_, index) => ({
        parts: index === 0 ? [thought, call] : ['It says crab.'],
      }))
      const { stdout, code } = await setting.send([
        '--allow',
        'bash(echo *)',
        '--allow',
        'bash(env)',
        'run it',
      ])
      assert.deepEqual([stdout, code], ['It says crab.\n', 0])
      const { text } = setting.server.requests[1] ?? assert.fail()
      assert.match(text, /crab\\nPATH=|crab\\n\w+=/)
      assert.ok(!text.includes(KEY), text)
      for (const part of returns) assert.ok(text.includes(part), `${part} in ${text}`)
    })

    test('sends an image', async () => {
      await using setting = await open(() => ({ parts: ['A pixel.'] }))
      await writeFile(join(setting.cwd, 'pixel.png'), Buffer.from(PIXEL, 'base64'))
      const { stdout, code } = await setting.send(['-i', 'pixel.png', 'What is it?'])
      assert.deepEqual([stdout, code], ['A pixel.\n', 0])
      assert.ok(setting.server.requests[0]?.text.includes(PIXEL))
    })

    test('exits 77 on a bad key, and does not print it', async () => {
      await using setting = await open(() => ({ status: 401, body: errorBody(`Bad key ${KEY}`) }))
      assertFailed(await setting.send(['hello']), 'credentials', {
        message: /Bad key \[secret\] \(401\)$/,
        hint: /check the key \((\w+_API_KEY|AWS_ACCESS_KEY_ID)\), or replace it: crabtalk connect$/,
      })
      assert.equal(setting.server.requests.length, 1)
    })

    test('exits 75 on a rate limit that lasts', async () => {
      const headers = { 'retry-after': '120' }
      await using setting = await open(() => ({ status: 429, headers, body: errorBody('slow down') }))
      assertFailed(await setting.send(['hello']), 'throttled', {
        message: /slow down \(429\)$/,
        hint: /try again in 120 s/,
      })
    })

    test('exits 69 when the answer is interrupted, and prints what arrived', async () => {
      await using setting = await open(() => ({ parts: ['Half an'], end: 'cut' }))
      const finished = await setting.send(['hello'])
      assert.equal(finished.stdout, 'Half an\n')
      assertFailed({ ...finished, stdout: '' }, 'unavailable', { message: /ended early/ })
    })
  })

  /** Makes a sandbox and a server, with the variables of that provider. */
  async function open(script: Script) {
    const box = await makeSandbox()
    const server: ModelServer = await startModelServer(script)
    const variables = env(`http://127.0.0.1:${server.port}`)
    return {
      cwd: box.cwd,
      server,
      send: (args: readonly string[]) => box.run(['send', ...args], { env: variables }),
      async [Symbol.asyncDispose]() {
        await server[Symbol.asyncDispose]()
        await box[Symbol.asyncDispose]()
      },
    }
  }
}

test('OPENAI_BASE_URL works for a server that only supports chat completions', async () => {
  await using box = await makeSandbox()
  const seen: RecordedRequest[] = []
  await using server = await startModelServer((request) => {
    seen.push(request)
    return request.path.endsWith('/chat/completions') ? { parts: ['ok'] } : { status: 404 }
  })
  const env = { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: server.url }
  assert.equal((await box.run(['send', 'hello'], { env })).stdout, 'ok\n')
  assert.deepEqual(
    seen.map(({ path }) => path),
    ['/v1/chat/completions'],
  )
})
