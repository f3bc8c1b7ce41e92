import { setTimeout as sleep } from 'node:timers/promises'
import { type RecordedRequest, type Reply, startModelServer } from '../test/support/model-server.ts'
import { chatCompletionWriter } from '../test/support/model-wire.ts'
import { stampedChunk } from './crowd.ts'
import { END, markdownChunks } from './markdown.ts'

// A program of its own, because a model server in the measuring process would share its time: prints its address, then
// the size of each request that begins a turn, a line each. It does what the last of these words in a request says:
// `call TOOL`, if it is offered; `flood N`, an answer of N chunks at once; `drip N MS`, N words with a pause before each
// but the first; `pace N MS`, N chunks that say when they were sent. Else it says hi. It ends with its standard input.
const floods = new Map<number, string>()
const server = await startModelServer((request) => {
  const [, flood] = lastOf(/\bflood (\d+)/g, request)
  if (flood) return { raw: floodOf(Number(flood)), usage: USAGE }
  const [, words, pause] = lastOf(/\bdrip (\d+) (\d+)/g, request)
  if (words) return { parts: drip(Number(words), Number(pause)), usage: USAGE }
  const [, chunks, every] = lastOf(/\bpace (\d+) (\d+)/g, request)
  if (chunks) return { parts: pace(Number(chunks), Number(every)), usage: USAGE }
  return answer(request)
})
console.log(server.url)
process.stdin.on('end', () => server[Symbol.asyncDispose]()).resume()

const USAGE = { input: 9, output: 3 }

function lastOf(pattern: RegExp, { text }: RecordedRequest): readonly string[] {
  return [...text.matchAll(pattern)].at(-1) ?? []
}

/** Chat completion chunks, made once: the server is not what is measured. */
function floodOf(count: number): string {
  const known = floods.get(count)
  if (known !== undefined) return known
  const { part } = chatCompletionWriter('loopback')
  const made = markdownChunks(count).map(part).join('')
  floods.set(count, made)
  return made
}

function drip(count: number, pauseMs: number): (string | Promise<unknown>)[] {
  return Array.from({ length: count }, (_, at) => [
    ...(at === 0 ? [] : [sleep(at * pauseMs)]),
    at === count - 1 ? END : `word${at} `,
  ]).flat()
}

/** Made one after the other, when it is time: each says when that was. */
function* pace(count: number, everyMs: number): Generator<string | Promise<unknown>> {
  const begin = performance.now()
  for (let at = 0; at < count; at++) {
    yield sleep(Math.max(0, begin + at * everyMs - performance.now()))
    yield stampedChunk(at)
  }
}

function answer(request: RecordedRequest): Reply {
  const tool = toolToCall(request)
  const isFirst = !request.text.includes('"role":"tool"')
  if (isFirst) console.log(Buffer.byteLength(request.text))
  if (!isFirst || tool === undefined) return { parts: ['Hi', ' there', '.'], usage: USAGE }
  return { parts: [{ call: 'c1', name: tool, args: '{"message":"hi"}' }], usage: USAGE }
}

function toolToCall({ text }: RecordedRequest): string | undefined {
  const [, tool] = /"call (\w+)"/.exec(text) ?? []
  return tool !== undefined && text.includes(`"name":"${tool}"`) ? tool : undefined
}
