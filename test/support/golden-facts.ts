import {
  ActiveConversationList,
  AgentList,
  AskKind,
  AskList,
  ContextPartKind,
  ContextView,
  ConversationList,
  EventTrace,
  McpPeerState,
  McpTraceEvent,
  McpView,
  MemoryHits,
  MemoryKind,
  MemoryList,
  MessageList,
  ModelList,
  PolicyDecision,
  PolicyEffect,
  RewindResult,
  RuleList,
  RuleScope,
  SessionDiff,
  SessionHits,
  SkillList,
  StreamEvent,
  SubscriptionList,
  UsageList,
} from '../../src/core/protocol/crabtalk.generated.ts'
import { type Dispatch, route } from '../../src/core/protocol/dispatch.ts'

/** The time of every golden view. */
export const GOLDEN_NOW = Date.UTC(2026, 0, 2, 3, 4, 5)

/** The directory of every golden view. */
export const GOLDEN_CWD = '/home/ann/web'

/** The conversation of every golden view. */
export const GOLDEN_SESSION = 'here'

function ago(seconds: number): string {
  return new Date(GOLDEN_NOW - seconds * 1_000).toISOString()
}

const DIFF = `--- util.ts
+++ util.ts
@@ -3,3 +3,4 @@
 /** Adds two numbers. */
-export function add(a: number, b: number) {
+export function add(a: number, b: number): number {
+  if (!Number.isFinite(a)) throw new RangeError(\`a is \${a}\`)
   return a + b
`

const TURN = { agent: 'crab', messageCount: 8, detached: true, cwd: GOLDEN_CWD }
const STORED = { agent: 'crab', agentId: 'a', cwd: GOLDEN_CWD, messageCount: 12 }

/** Agents with a day of work behind them: whatever a view shows is the same at every run. */
export const GOLDEN_DISPATCH: Dispatch = route({
  listAgents: async () =>
    AgentList.fromPartial({
      agents: [
        { name: 'crab', description: 'the default agent', model: 'opus-5.5' },
        { name: 'reviewer', description: 'reads changes and says what is wrong with them', model: 'gpt-6' },
      ],
    }),
  listActiveConversations: async () =>
    ActiveConversationList.fromPartial({
      conversations: [
        {
          ...TURN,
          ...{
            sender: 'sh:2',
            session: 's2',
            title: 'Deploy the staging server',
            runId: 'r2',
            aliveSecs: 130,
          },
          activity: 'running bash',
        },
        {
          ...TURN,
          ...{
            sender: 'sh:3',
            session: 's3',
            title: 'Find the first bad commit',
            runId: 'r3',
            aliveSecs: 48,
          },
          activity: 'running bash: git bisect run npm test -- --test-name-pattern "add() refuses NaN"',
        },
      ],
    }),
  listAsks: async () =>
    AskList.fromPartial({
      asks: [
        {
          ...{ agent: 'crab', sender: 'sh:2', session: 's2', runId: 'r2', openedAt: ago(95) },
          ask: {
            askId: '01JZZZZZZZZZZZZZZZZASK00Q1',
            kind: AskKind.PERMISSION,
            permission: { action: 'bash: ./deploy.sh staging', tool: 'bash' },
            questions: [{ question: 'Allow it?' }],
          },
        },
      ],
    }),
  listConversations: async () =>
    ConversationList.fromPartial({
      conversations: [
        {
          ...STORED,
          sender: 'sh:1',
          filePath: 'here',
          title: 'Refuse NaN in add()',
          updatedAt: ago(20),
          windows: 1,
        },
        {
          ...STORED,
          sender: 'sh:2',
          filePath: 's2',
          title: 'Deploy the staging server',
          updatedAt: ago(95),
          asks: 1,
        },
        {
          ...STORED,
          sender: 'sh:3',
          filePath: 's3',
          title: 'Find the first bad commit',
          updatedAt: ago(2),
          running: true,
        },
        {
          ...STORED,
          ...{
            sender: 'ann',
            filePath: 's4',
            messageCount: 1,
            cwd: '/home/ann/notes',
            updatedAt: ago(90_000),
          },
          title: 'A title that is longer than most, because the first sentence of the first message was long',
        },
      ],
    }),
  listMessages: async () =>
    MessageList.fromPartial({ total: 1, messages: [{ role: 'assistant', content: 'All 312 tests pass.' }] }),
  listModels: async () =>
    ModelList.fromPartial({
      models: [
        {
          ...{ name: 'opus-5.5', active: true, providerName: 'anthropic', context: 200_000 },
          ...{ inputUsd: 5, outputUsd: 25, efforts: ['low', 'medium', 'high'] },
        },
        {
          name: 'gpt-6',
          providerName: 'openai',
          context: 400_000,
          inputUsd: 1.25,
          outputUsd: 10,
          efforts: ['low', 'high'],
        },
        { name: 'qwen3:30b-a3b-instruct-2507-q4_K_M', providerName: 'ollama' },
        { name: 'demo' },
      ],
    }),
  contextView: async () =>
    ContextView.fromPartial({
      ...{ model: 'opus-5.5', window: 200_000, total: 62_400, counted: 62_400, compactable: 41_000 },
      ...{ largeResults: 3, largeResultTokens: 21_000 },
      parts: [
        { kind: ContextPartKind.PROMPT, name: 'crab', tokens: 2_100, count: 1 },
        { kind: ContextPartKind.INSTRUCTIONS, name: '~/web/AGENTS.md', tokens: 1_300, count: 1 },
        { kind: ContextPartKind.TOOLS, name: '', tokens: 3_400, count: 12 },
        { kind: ContextPartKind.TOOLS, name: 'github', tokens: 8_700, count: 41, unused: true },
        { kind: ContextPartKind.USER, name: '', tokens: 900, count: 6 },
        { kind: ContextPartKind.ASSISTANT, name: '', tokens: 12_600, count: 31 },
        { kind: ContextPartKind.RESULTS, name: '', tokens: 33_400, count: 44 },
      ],
    }),
  usageReport: async () =>
    UsageList.fromPartial({
      rows: [
        { ...SPENT, day: '2025-12-30', model: 'opus-5.5', turns: 4, input: 121_000, costUsd: 0.42 },
        { ...SPENT, day: '2025-12-31', model: 'opus-5.5', turns: 31, input: 2_410_000, costUsd: 7.31 },
        {
          ...SPENT,
          day: '2026-01-01',
          model: 'qwen3:30b-a3b-instruct-2507-q4_K_M',
          turns: 2,
          input: 9_000,
          cacheRead: 0,
        },
        {
          ...SPENT,
          day: '2026-01-02',
          model: 'gpt-6',
          agent: 'reviewer',
          turns: 11,
          input: 640_000,
          costUsd: 1.08,
        },
      ],
    }),
  listRules: async () =>
    RuleList.fromPartial({
      rules: [
        {
          scope: RuleScope.CONVERSATION,
          rule: { effect: PolicyEffect.ALLOW, pattern: 'bash(npm test *)', source: 'this conversation' },
        },
        rule(PolicyEffect.DENY, 'read(~/.ssh/**)', RuleScope.CONFIG, 'config.toml:12'),
        rule(PolicyEffect.ASK, 'bash(git push *)', RuleScope.CONFIG, 'config.toml:13'),
        rule(
          PolicyEffect.ALLOW,
          'bash(docker compose up --build --detach web worker *)',
          RuleScope.AGENT,
          'agents/crab.toml:7',
        ),
      ],
    }),
  policyExplain: async ({ tool }) =>
    PolicyDecision.fromPartial({
      ...(['bash', 'edit', 'write'].includes(tool)
        ? {
            effect: PolicyEffect.ASK,
            reason: tool === 'bash' ? 'no rule allows a-command' : 'it changes a file',
          }
        : { effect: PolicyEffect.ALLOW, reason: 'it only reads' }),
    }),
  mcpView: async () =>
    McpView.fromPartial({
      peers: [
        {
          ...{ fingerprint: 'f1', transport: 'stdio', target: 'npx -y @modelcontextprotocol/server-github' },
          ...{ state: McpPeerState.CONNECTED, toolCount: 41, schemaTokens: 8_700, calls: 17, errors: 1 },
          ...{ latencyMs: 212, memoryBytes: 88_000_000 },
          owners: [{ agent: 'crab', name: 'github' }],
        },
      ],
      agents: [
        {
          agent: 'crab',
          servers: [
            {
              ...{ name: 'github', fingerprint: 'f1', source: 'agents/crab.toml:9', listed: true },
              state: McpPeerState.CONNECTED,
              tools: [
                tool(
                  'mcp__github__create_issue',
                  'Creates an issue in a repository of a user or an organization',
                ),
                tool('mcp__github__list_commits', 'Lists commits'),
              ],
            },
            {
              ...{
                name: 'postgres',
                fingerprint: 'f2',
                source: 'config.toml:20',
                state: McpPeerState.FAILED,
              },
              error: 'Cannot start postgres: connect ECONNREFUSED 127.0.0.1:5433; trying again in 20 s',
            },
          ],
        },
      ],
    }),
  async *mcpTrace() {
    const frame = { ts: ago(1), id: '7', method: 'tools/call' }
    yield McpTraceEvent.fromPartial({
      ...frame,
      outgoing: true,
      payload: '{"name":"list_commits","arguments":{"perPage":5}}',
    })
    yield McpTraceEvent.fromPartial({
      ...frame,
      outgoing: false,
      payload: '{"content":[{"type":"text","text":"cce022c3 tui: a card"}]}',
    })
  },
  listSkills: async () =>
    SkillList.fromPartial({
      skills: [
        { name: 'explain', description: 'Explains a piece of code to a reader who has never seen it' },
        { name: 'release', description: 'Writes the changelog, sets the version and tags the commit' },
      ],
      problems: [{ path: 'skills/broken/SKILL.md', line: 3, message: 'the description is missing' }],
    }),
  searchSessions: async () =>
    SessionHits.fromPartial({
      hits: [
        {
          session: {
            ...STORED,
            id: 's3',
            sender: 'sh:3',
            title: 'Find the first bad commit',
            updatedAt: ago(4_000),
          },
          seq: 7,
          window: [
            {
              seq: 7,
              role: 'assistant',
              snippet: 'the first bad commit is cce022c3, which rounds in add()',
              matches: [10, 13],
              ts: ago(4_000),
            },
            { seq: 8, role: 'user', snippet: 'revert it on a branch' },
          ],
        },
      ],
    }),
  listMemory: async ({ name }) =>
    MemoryList.fromPartial({ total: 3, entries: MEMORY.filter((one) => !name || one.name === name) }),
  searchMemory: async () => MemoryHits.fromPartial({ hits: [{ entry: MEMORY[0]!, matches: [4, 8] }] }),
  rewind: async () =>
    RewindResult.fromPartial({
      points: [
        { seq: 9, ts: ago(20), content: 'and the same for mul()', files: 0 },
        {
          seq: 5,
          ts: ago(300),
          content: 'the test of add() fails, fix it, and say in one sentence why it did',
          files: 2,
        },
        { seq: 1, ts: ago(4_000), content: 'what does src/util.ts export?', files: 3 },
      ],
    }),
  sessionDiff: async () =>
    SessionDiff.fromPartial({
      files: [
        { path: `${GOLDEN_CWD}/util.ts`, change: 2, added: 2, removed: 1, diff: DIFF },
        {
          path: `${GOLDEN_CWD}/test/util.test.ts`,
          change: 1,
          added: 1,
          removed: 0,
          diff: '--- a\n+++ b\n@@ -0,0 +1 @@\n+test()\n',
        },
      ],
      untracked: ['bash(npm run format)'],
    }),
  listSubscriptions: async () =>
    SubscriptionList.fromPartial({ subscriptions: [{ id: 1, source: 'git.push', targetAgent: 'reviewer' }] }),
  traceEvent: async () =>
    EventTrace.fromPartial({
      events: [
        {
          ...{ id: 'e1', source: 'git.push', publishedAt: ago(61), payload: '{"branch":"main","commits":3}' },
          fired: [{ subscriptionId: 1, agent: 'reviewer' }],
        },
      ],
    }),
  async *stream() {
    const answer = 'A lease is a lock that ends by itself: whoever holds it has to renew it in time.'
    yield StreamEvent.fromPartial({ event: { $case: 'chunk', value: { content: answer } } })
    yield StreamEvent.fromPartial({ event: { $case: 'end', value: {} } })
  },
})

function rule(effect: PolicyEffect, pattern: string, scope: RuleScope, source: string) {
  return { scope, rule: { effect, pattern, source } }
}

function tool(name: string, description: string) {
  return { name, remoteName: name, description, effect: PolicyEffect.ASK }
}

const SPENT = { agent: 'crab', cwd: GOLDEN_CWD, output: 18_400, cacheRead: 96_000, cacheWrite: 12_000 }

const MEMORY = [
  {
    ...{ id: 1, kind: MemoryKind.NOTE, name: 'the prod db', aliases: ['database'], createdAt: ago(200_000) },
    content: 'the prod db is on db3, port 5433',
  },
  { id: 2, kind: MemoryKind.NOTE, name: 'wifi', createdAt: ago(9_000), content: 'blue lagoon 42' },
  {
    ...{
      id: 3,
      kind: MemoryKind.ARCHIVE,
      name: 'archive-1',
      aliases: ['Refuse NaN in add()'],
      createdAt: ago(500),
    },
    content: 'add() refuses NaN. The user prefers RangeError.',
  },
]
