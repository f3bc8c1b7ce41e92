import { startModelServer } from '../test/support/model-server.ts'

// A program of its own, because a model server in the measuring process would share its time: prints its address, then
// the size of each request it gets, a line each. It ends with its standard input.
const server = await startModelServer(({ text }) => {
  console.log(Buffer.byteLength(text))
  return { parts: ['Hi', ' there', '.'], usage: { input: 9, output: 3 } }
})
console.log(server.url)
process.stdin.on('end', () => server[Symbol.asyncDispose]()).resume()
