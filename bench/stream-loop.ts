import { writeSync } from 'node:fs'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'

// A standalone program, `stream-loop.ts URL CONTENT`: reads the provider package's stream and prints the text
// at the end. Its figures are the floor for any program that uses that package.
const [baseURL = '', content = ''] = process.argv.slice(2)
const provider = createOpenAICompatible({ name: 'loop', baseURL, apiKey: 'none' })
const { stream } = await provider('loopback').doStream({
  prompt: [{ role: 'user', content: [{ type: 'text', text: content }] }],
})
let text = ''
for await (const part of stream) if (part.type === 'text-delta') text += part.delta
writeSync(1, text)
