import { readCrowd } from './crowd.ts'

// A standalone program, `crowd-fetch.ts MODEL_URL COUNT CHUNKS CONTENT`: reads COUNT concurrent streams of a
// model server with nothing in between. Its figures are the floor for any client.
const [url = '', count = '', chunks = '', content = ''] = process.argv.slice(2)
const init = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ model: 'loopback', stream: true, messages: [{ role: 'user', content }] }),
}
const result = await readCrowd({ count: Number(count), chunks: Number(chunks) }, async (stream) => {
  const { body } = await fetch(`${url}/chat/completions`, init)
  const decoder = new TextDecoder()
  for await (const bytes of body!) stream.take(decoder.decode(bytes, { stream: true }))
})
console.log(JSON.stringify(result))
