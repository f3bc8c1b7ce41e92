/**
 * An MCP server over stdio that does what it is told, wrong or right:
 * `node test/support/mcp/misbehaving-server.ts [--OPTION=VALUE]…`. Without options it behaves.
 *
 * Every option goes with every other. LIST is separated by commas; `--at`, `--delay` and `--late` may come several times. A
 * POINT is a method that arrives (`initialize`, `tools/list`, `tools/call`, `server/discover`, …) or `start`, before
 * anything is read. Every process ends by itself after five minutes, whatever it ignores.
 *
 * | option              | effect |
 * |---------------------|--------|
 * | --name=TEXT         | the server's name in the handshake |
 * | --mark=TEXT         | nothing: a word on its command line, and on that of its grandchildren, to find them by |
 * | --starts=FILE       | appends its pid, a line for each start |
 * | --record=FILE       | appends what reaches it, a line of JSON each: messages, lines that are none, `eof`, signals |
 * | --at=POINT=ACT      | does the act instead: crash (words on stderr, exit 1), exit (0), kill (SIGKILL), torn (half an answer, exit 1), hang (no answer), deaf (reads no more), close (closes stdout, lives on), error (a JSON-RPC error) |
 * | --first=N           | `--at` holds in the first N processes only, as --starts counts them |
 * | --delay=POINT=MS    | goes on that much later; POINT `exit`: takes that long to end after EOF or a signal |
 * | --late=POINT=POINT  | takes the first up only when the second has come, as a server does that is not there yet |
 * | --ignore=LIST       | eof, SIGTERM, SIGINT, SIGHUP: lives on |
 * | --grandchild=LIST   | starts a process that holds its stdout and stderr and outlives it: plain, session (setsid), stubborn (ignores signals), session+stubborn |
 * | --noise=LIST        | on stdout before each message: text, blank, json (no JSON-RPC), partial (cut JSON), huge (one line); bom (first bytes); crlf (line ends); split (a line in many writes) |
 * | --huge=BYTES        | length of the huge line, 12 MiB |
 * | --flood=BYTES       | that much on stderr before each message; nothing is answered while nobody reads it |
 * | --era=ERA           | legacy (2024-11-05 to 2025-11-25), modern (2026-07-28 only), both |
 * | --protocol=TEXT     | the version it answers `initialize` with |
 * | --capabilities=JSON | what it advertises, instead of tools with listChanged |
 * | --answers=LIST      | twice, unknown (one that nobody asked for before each), late (to a cancelled request), text-id (the id as a string), null-id |
 * | --ask=LIST          | asks the client as soon as it is initialized: ping, roots/list, sampling/createMessage, elicitation/create |
 * | --tools=LIST        | good (the default: those below), few (echo, add), odd (names), twins (one name twice), schemas (bad definitions), none |
 * | --pages=N           | tools/list in N pages |
 * | --cursor=HOW        | repeat (every page is the first and names the same next), endless (always another page) |
 * | --loop              | tools/list_changed after each tools/list |
 *
 * Tools that behave: echo {text}, add {a, b}, sleep {ms, steps} (progress, cancellation), env, cwd, pid, fail {text},
 * big {bytes}, structured, big_structured {bytes}, image, audio, resource_link, embedded_text, embedded_blob, mixed,
 * no_content. Tools that act: act {how: an ACT, after_ms} (with after_ms it answers first), noise {kinds},
 * stderr {text, bytes}, spawn {kind} (a grandchild; gives its pid), change {add, remove, times} (the tools, and so
 * many notifications), ask {method, params} (gives the client's answer). Results that are wrong: unknown_content,
 * malformed_content, shapeless, content_text, mismatch (against its output schema).
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { actingTools } from './acting-tools.ts'
import { answersLayer, claimsLayer } from './answers.ts'
import { Asks } from './asks.ts'
import { badSchemaTools, oddTools, twinTools } from './bad-tools.ts'
import { eraLayer, type Identity } from './era.ts'
import { fewTools, goodTools } from './good-tools.ts'
import { startGrandchild } from './grandchildren.ts'
import { limitLife, mindEnd, mindSignals } from './life.ts'
import { connectLayers, type Link } from './message.ts'
import { parseOptions, type ServerOptions, type ToolSet } from './options.ts'
import { lateLayer, perform, pointsLayer } from './points.ts'
import { countStart, recorderOf } from './record.ts'
import type { Tool } from './tool.ts'
import { ToolList } from './tool-list.ts'
import { Wire } from './wire.ts'

await serve(parseOptions(process.argv.slice(2)))

async function serve(options: ServerOptions): Promise<void> {
  const record = recorderOf(options.record)
  const { first = Infinity, delay = {} } = options
  const at = countStart(options.starts) <= first ? (options.at ?? {}) : {}
  limitLife()
  mindSignals(options, record)
  const wire = new Wire({ options, record })
  for (const kind of options.grandchild ?? []) await startGrandchild(kind, options.mark)
  if (delay['start'] !== undefined) await sleep(delay['start'])
  if (at['start'] !== undefined) return perform(at['start'], wire, null)
  const receive = await build({ ...options, at }, wire)
  wire.listen(receive, () => mindEnd(options, record))
}

/** Puts the server together: the wire, what gets in its way, the SDK; gives the way in. */
async function build(options: ServerOptions, wire: Wire): Promise<Link['receive']> {
  const { rawCallsLayer, startSdkServer } = await import('./sdk-server.ts') // slow, and not for who dies at once
  const list = new ToolList(options)
  const asks = new Asks()
  for (const set of options.tools ?? ['good']) list.add(toolsOf(set))
  const identity: Identity = {
    name: options.name ?? 'misbehaving',
    capabilities: options.capabilities ?? { tools: { listChanged: true } },
    instructions: 'Use echo to say something again.',
  }
  const ends: Link = { send: (message) => wire.send(message), receive: (message) => sdk(message) }
  const link = connectLayers(
    [
      lateLayer(options),
      pointsLayer(options, wire),
      answersLayer(options),
      claimsLayer(options),
      eraLayer(options, identity),
      asks.layer(options.ask ?? []),
      list.layer(),
      rawCallsLayer(list),
    ],
    ends,
  )
  const sdk = await startSdkServer(
    { ...identity, capabilities: { tools: { listChanged: true } } },
    list,
    link.send,
  )
  return link.receive

  function toolsOf(set: ToolSet): Tool[] {
    if (set === 'few') return fewTools()
    if (set === 'odd') return oddTools()
    if (set === 'twins') return twinTools()
    if (set === 'schemas') return badSchemaTools()
    return set === 'none' ? [] : [...goodTools(), ...actingTools({ wire, asks, list, options })]
  }
}
