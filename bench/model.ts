import { setTimeout as sleep } from 'node:timers/promises'
import { type RecordedRequest, type Reply, startModelServer } from '../test/support/model-server.ts'
import { chatCompletionWriter } from '../test/support/model-wire.ts'
import { stampedChunk } from './crowd.ts'
import { END, markdownChunks } from './markdown.ts'

// A standalone program, because a model server in the measuring process would share its CPU time. Prints its
// address, then the size of each request that starts a turn, one per line. The last of these phrases in a
// request decides its answer: `call TOOL` calls the tool, if it is offered; `flood N` sends N chunks without a
// pause; `drip N MS` sends N words with a pause before each but the first; `pace N MS` sends N chunks stamped
// with their sending time. Without any it says hi. It ends with its standard input.
const floods = new Map<number, string>()
const server = await startModelServer((request) => {
  const [, flood] = matchLast(/\bflood (\d+)/g, request)
  if (flood) return { raw: makeFlood(Number(flood)), usage: USAGE }
  const [, words, pause] = matchLast(/\bdrip (\d+) (\d+)/g, request)
  if (words) return { parts: drip(Number(words), Number(pause)), usage: USAGE }
  const [, chunks, every] = matchLast(/\bpace (\d+) (\d+)/g, request)
  if (chunks) return { parts: pace(Number(chunks), Number(every)), usage: USAGE }
  return answer(request)
})
console.log(server.url)
process.stdin.on('end', () => server[Symbol.asyncDispose]()).resume()

const USAGE = { input: 9, output: 3 }

function matchLast(pattern: RegExp, { text }: RecordedRequest): readonly string[] {
  return [...text.matchAll(pattern)].at(-1) ?? []
}

/** Returns chat completion chunks, cached because the server itself is not measured. */
function makeFlood(count: number): string {
  const known = floods.get(count)
  if (known !== undefined) return known
  const { part } = chatCompletionWriter('loopback')
  const body = markdownChunks(count).map(part).join('')
  floods.set(count, body)
  return body
}

function drip(count: number, pauseMs: number): (string | Promise<unknown>)[] {
  return Array.from({ length: count }, (_, at) => [
    ...(at === 0 ? [] : [sleep(at * pauseMs)]),
    at === count - 1 ? END : `word${at} `,
  ]).flat()
}

/** Creates chunks one at a time when they are due, so that each contains its sending time. */
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
