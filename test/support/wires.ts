import type { Usage } from '../../src/core/base/message.ts'
import type { ModelEndpoint } from '../../src/core/provider/endpoint.ts'
import { endpointAt } from './model-calls.ts'
import type { ModelServer } from './model-server.ts'

/** One of the six kinds of provider, and the unavoidable differences of its wire. */
export interface WireCase {
  kind: ModelEndpoint['kind']
  /** The path below the server's root. */
  path: string
  more?: Partial<ModelEndpoint>
  /** The usage of an answer that reports none. */
  noUsage: Usage | undefined
  /** Arguments of a second call; broken ones where the wire can carry them. */
  second: string
  /** The status of an overload that is reported in the stream. */
  overloaded: number
  /** Matches a request for thinking; `thinker` is the model that supports it, when not every model does. */
  asksToThink: RegExp
  thinker?: string
  /** Matches a request with the reasoning effort `low`. */
  sendsEffort: RegExp
  /**
   * The parts of thinking with the signature `c2lnbmVk` and of a call with `Y2FsbGVk` that the next request
   * repeats.
   */
  returns: readonly string[]
  /** False when thinking counts as output without being reported. */
  countsThinking?: false
  /** Set when structured output is requested through a tool named json. */
  answersByTool?: true
  keyHeader: string
  key: RegExp
}

const ZERO: Usage = { input: 0, output: 0, cache_read: 0, cache_write: 0, reasoning: 0 }
const BROKEN = '{"path":'
const SIGNED: Partial<ModelEndpoint> = {
  apiKey: undefined,
  aws: {
    region: 'eu-west-1',
    credentials: { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'sk-secret-0123456789' },
  },
}

const BEARER = { keyHeader: 'authorization', key: /^Bearer sk-secret-0123456789$/ }
const OWN_KEY = /^sk-secret-0123456789$/

/** All six kinds. */
export const WIRES: readonly WireCase[] = [
  {
    ...{ kind: 'openai-compatible', path: '/v1', noUsage: undefined, second: BROKEN, overloaded: 529 },
    sendsEffort: /"reasoning_effort":"low"/,
    ...{ asksToThink: /"reasoning_effort":"medium"/, returns: ['Let me see.'], ...BEARER },
  },
  {
    ...{ kind: 'anthropic', path: '/v1', noUsage: ZERO, second: BROKEN, overloaded: 529 },
    sendsEffort: /"output_config":\{"effort":"low"\}/,
    ...{ asksToThink: /"thinking":\{"type":"adaptive"/, thinker: 'claude-opus-5', returns: ['c2lnbmVk'] },
    ...{ countsThinking: false, keyHeader: 'x-api-key', key: OWN_KEY },
  },
  {
    ...{ kind: 'openai', path: '/v1', more: { wire: 'responses' }, noUsage: undefined, second: BROKEN },
    sendsEffort: /"reasoning":\{"effort":"low"/,
    ...{ overloaded: 529, asksToThink: /"reasoning":\{"effort":"medium","summary":"auto"\}/ },
    ...{ thinker: 'gpt-6-sol', returns: ['"encrypted_content":"c2lnbmVk"'], ...BEARER },
  },
  {
    ...{ kind: 'azure', path: '/openai/v1', noUsage: undefined, second: BROKEN, overloaded: 529 },
    sendsEffort: /"reasoning":\{"effort":"low"/,
    ...{ asksToThink: /"reasoning":\{"effort":"medium","summary":"auto"\}/ },
    ...{ returns: ['"encrypted_content":"c2lnbmVk"'], keyHeader: 'api-key', key: OWN_KEY },
  },
  {
    ...{ kind: 'google', path: '/v1beta', noUsage: undefined, second: '{"path":"two"}', overloaded: 529 },
    sendsEffort: /"thinkingConfig":\{"thinkingLevel":"low"\}/,
    ...{ asksToThink: /"includeThoughts":true/, thinker: 'gemini-3.8-flash' },
    ...{ returns: ['c2lnbmVk', 'Y2FsbGVk'], keyHeader: 'x-goog-api-key', key: OWN_KEY },
  },
  {
    ...{ kind: 'bedrock', path: '', more: SIGNED, noUsage: undefined, second: BROKEN, overloaded: 503 },
    sendsEffort: /"effort":"low"/,
    ...{ asksToThink: /"thinking":\{"type":"adaptive","display":"summarized"\}/ },
    ...{ thinker: 'global.anthropic.claude-opus-5', returns: ['c2lnbmVk'], countsThinking: false },
    ...{ answersByTool: true, keyHeader: 'authorization' },
    key: /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-west-1\/bedrock\/aws4_request, /,
  },
]

/** Returns the endpoint of a kind at a test server. */
export function wireEndpoint(
  { kind, path, more }: WireCase,
  server: ModelServer,
  own: Partial<ModelEndpoint> = {},
): ModelEndpoint {
  return endpointAt(`http://127.0.0.1:${server.port}${path}`, { kind, ...more, ...own })
}
