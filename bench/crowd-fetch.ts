import { readCrowd } from './crowd.ts'

// A program of its own, `crowd-fetch.ts MODEL_URL COUNT CHUNKS CONTENT`: so many streams of a model server at once, with
// nothing in between. What it takes is what nobody can do without.
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
