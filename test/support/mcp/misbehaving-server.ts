/**
 * An MCP server over stdio whose options make it behave or misbehave:
 * `node test/support/mcp/misbehaving-server.ts [--OPTION=VALUE]…`. Without options it behaves correctly.
 *
 * All options can be combined. A LIST is separated by commas; `--at`, `--delay` and `--late` may be repeated. A POINT is
 * an incoming method (`initialize`, `tools/list`, `tools/call`, `server/discover`, …), or `start`, before anything is
 * read. Every process exits after five minutes, even if it ignores signals.
 *
 * | option              | effect |
 * |---------------------|--------|
 * | --name=TEXT         | the server's name in the handshake |
 * | --mark=TEXT         | no effect: a word on its command line and that of its grandchildren, by which tests find them |
 * | --starts=FILE       | appends its pid, one line for each start |
 * | --record=FILE       | appends one JSON line for everything that reaches it: messages, lines that are not messages, `eof`, signals |
 * | --at=POINT=ACT      | performs the act instead: crash (a message on stderr, exit 1), exit (0), kill (SIGKILL), torn (half an answer, exit 1), hang (no answer), deaf (stops reading), close (closes stdout, keeps running), error (a JSON-RPC error) |
 * | --first=N           | `--at` applies only to the first N processes, as counted by --starts |
 * | --delay=POINT=MS    | continues after that delay; POINT `exit`: takes that long to exit after EOF or a signal |
 * | --late=POINT=POINT  | handles the first only after the second has arrived, like a server that is not ready yet |
 * | --ignore=LIST       | eof, SIGTERM, SIGINT, SIGHUP: keeps running |
 * | --grandchild=LIST   | starts a process that holds its stdout and stderr and outlives it: plain, session (setsid), stubborn (ignores signals), session+stubborn |
 * | --noise=LIST        | on stdout before each message: text, blank, json (not JSON-RPC), partial (cut JSON), huge (one line); bom (first bytes); crlf (line ends); split (a line in many writes) |
 * | --huge=BYTES        | length of the huge line, 12 MiB |
 * | --flood=BYTES       | writes that much to stderr before each message; does not answer until it is read |
 * | --era=ERA           | legacy (2024-11-05 to 2025-11-25), modern (2026-07-28 only), both |
 * | --protocol=TEXT     | the version it answers `initialize` with |
 * | --capabilities=JSON | what it advertises, instead of tools with listChanged |
 * | --answers=LIST      | twice, unknown (an unrequested one before each), late (to a cancelled request), text-id (the id as a string), null-id |
 * | --ask=LIST          | sends requests to the client as soon as it is initialized: ping, roots/list, sampling/createMessage, elicitation/create |
 * | --tools=LIST        | good (the default: the ones below), few (echo, add), odd (names), twins (one name twice), schemas (bad definitions), none |
 * | --pages=N           | tools/list in N pages |
 * | --cursor=HOW        | repeat (every page is the first, with the same cursor), endless (always another page) |
 * | --loop              | tools/list_changed after each tools/list |
 *
 * Correct tools: echo {text}, add {a, b}, sleep {ms, steps} (progress, cancellation), env, cwd, pid, fail {text},
 * big {bytes}, structured, big_structured {bytes}, image, audio, resource_link, embedded_text, embedded_blob, mixed,
 * no_content. Tools that act: act {how: an ACT, after_ms} (with after_ms it answers first), noise {kinds},
 * stderr {text, bytes}, spawn {kind} (a grandchild; returns its pid), change {add, remove, times} (changes the tools
 * and sends `times` notifications), ask {method, params} (returns the client's answer). Tools with wrong results:
 * unknown_content, malformed_content, shapeless, content_text, mismatch (with its output schema).
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { actingTools } from './acting-tools.ts'
import { answersLayer, claimsLayer } from './answers.ts'
import { Asks } from './asks.ts'
import { badSchemaTools, oddTools, twinTools } from './bad-tools.ts'
import { eraLayer, type Identity } from './era.ts'
import { fewTools, goodTools } from './good-tools.ts'
import { startGrandchild } from './grandchildren.ts'
import { handleInputEnd, handleSignals, limitLife } from './lifecycle.ts'
import { connectLayers, type Link } from './message.ts'
import { parseOptions, type ServerOptions, type ToolSet } from './options.ts'
import { lateLayer, perform, pointsLayer } from './points.ts'
import { countStart, openRecorder } from './record.ts'
import type { Tool } from './tool.ts'
import { ToolList } from './tool-list.ts'
import { Wire } from './wire.ts'

await serve(parseOptions(process.argv.slice(2)))

async function serve(options: ServerOptions): Promise<void> {
  const record = openRecorder(options.record)
  const { first = Infinity, delay = {} } = options
  const at = countStart(options.starts) <= first ? (options.at ?? {}) : {}
  limitLife()
  handleSignals(options, record)
  const wire = new Wire({ options, record })
  for (const kind of options.grandchild ?? []) await startGrandchild(kind, options.mark)
  if (delay['start'] !== undefined) await sleep(delay['start'])
  if (at['start'] !== undefined) return perform(at['start'], wire, null)
  const receive = await build({ ...options, at }, wire)
  wire.listen(receive, () => handleInputEnd(options, record))
}

/** Assembles the server: the wire, the layers that disturb it, the SDK; returns the entry for messages. */
async function build(options: ServerOptions, wire: Wire): Promise<Link['receive']> {
  const { rawCallsLayer, startSdkServer } = await import('./sdk-server.ts') // slow to load, and not needed by a process that exits immediately
  const list = new ToolList(options)
  const asks = new Asks()
  for (const set of options.tools ?? ['good']) list.add(selectTools(set))
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

  function selectTools(set: ToolSet): Tool[] {
    if (set === 'few') return fewTools()
    if (set === 'odd') return oddTools()
    if (set === 'twins') return twinTools()
    if (set === 'schemas') return badSchemaTools()
    return set === 'none' ? [] : [...goodTools(), ...actingTools({ wire, asks, list, options })]
  }
}
