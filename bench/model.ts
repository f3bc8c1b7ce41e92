import { type RecordedRequest, startModelServer } from '../test/support/model-server.ts'

// A program of its own, because a model server in the measuring process would share its time: prints its address, then
// the size of each request that begins a turn, a line each. Asked to `call TOOL`, it calls that tool, if it is offered,
// before it answers. It ends with its standard input.
const server = await startModelServer((request) => {
  const tool = toolToCall(request)
  const isFirst = !request.text.includes('"role":"tool"')
  if (isFirst) console.log(Buffer.byteLength(request.text))
  const usage = { input: 9, output: 3 }
  if (!isFirst || tool === undefined) return { parts: ['Hi', ' there', '.'], usage }
  return { parts: [{ call: 'c1', name: tool, args: '{"message":"hi"}' }], usage }
})
console.log(server.url)
process.stdin.on('end', () => server[Symbol.asyncDispose]()).resume()

function toolToCall({ text }: RecordedRequest): string | undefined {
  const [, tool] = /"call (\w+)"/.exec(text) ?? []
  return tool !== undefined && text.includes(`"name":"${tool}"`) ? tool : undefined
}
