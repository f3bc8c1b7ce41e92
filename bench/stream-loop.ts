import { writeSync } from 'node:fs'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'

// A program of its own, `stream-loop.ts URL CONTENT`: nothing but the provider package's stream, gathered and printed at
// the end. What it takes is what nobody can do without who uses that package.
const [baseURL = '', content = ''] = process.argv.slice(2)
const provider = createOpenAICompatible({ name: 'loop', baseURL, apiKey: 'none' })
const { stream } = await provider('loopback').doStream({
  prompt: [{ role: 'user', content: [{ type: 'text', text: content }] }],
})
let text = ''
for await (const part of stream) if (part.type === 'text-delta') text += part.delta
writeSync(1, text)
