import { shownTitle } from '../../core/base/auto-title.ts'
import { formatAge } from '../../core/base/format.ts'
import type {
  ActiveConversationInfo,
  AgentInfo,
  AskInfo,
  ConversationInfo,
} from '../../core/protocol/crabtalk.generated.ts'
import { toAskLine } from '../../core/questions/subject.ts'
import type { Panel, PanelRow } from '../overlays/types.ts'

/** A conversation that ended since the user looked at it, with the last line of its answer. */
export interface EndedConversation {
  info: ConversationInfo
  lastLine: string
}

/** The contents of the agents view. */
export interface AgentsFacts {
  active: readonly ActiveConversationInfo[]
  asks: readonly AskInfo[]
  ended: readonly EndedConversation[]
  /** The number of ended conversations that are not in `ended`. */
  moreEnded: number
  agents: readonly AgentInfo[]
}

/** The context in which the view is shown. */
export interface AgentsContext {
  /** The session of this window. */
  session: string | undefined
  /** Milliseconds since 1970. */
  now: number
  abbreviate(path: string): string
}

/** The target of a row: a conversation, or an agent to start one with. */
export type AgentsTarget =
  | { kind: 'conversation'; session: string; agent: string; sender: string }
  | { kind: 'agent'; agent: string }

/**
 * Builds the agents view: conversations that ask, that run and that ended since the user looked, and below
 * them the agents. `before` is the open view, whose selected row stays selected.
 */
export function agentsPanel(facts: AgentsFacts, context: AgentsContext, before?: Panel): Panel {
  const asking = new Map(facts.asks.map((ask) => [ask.session, ask]))
  const active = facts.active.filter(({ cwd }) => cwd !== '') // others are not stored, and cannot be opened
  const [waiting, running] = [true, false].map((isAsking) =>
    active.filter(({ session }) => asking.has(session) === isAsking),
  ) as [ActiveConversationInfo[], ActiveConversationInfo[]]
  const rows = [
    ...waiting.map((info) => activeRow(info, asking.get(info.session), context)),
    ...running.map((info) => activeRow(info, undefined, context)),
    ...facts.ended.map((ended) => endedRow(ended, context)),
    ...(facts.moreEnded > 0 ? [moreRow(facts.moreEnded)] : []),
    ...facts.agents.map(agentRow),
  ]
  const value = before?.rows[before.selected]?.value
  const found = rows.findIndex((row) => row.value === value)
  const selected = found >= 0 ? found : Math.max(0, Math.min(before?.selected ?? 0, rows.length - 1))
  return {
    kind: 'panel',
    picker: 'agents',
    title: describe(waiting.length, running.length, facts.ended.length + facts.moreEnded),
    header: ['STATE', 'CONVERSATION', 'AGENT', 'DIRECTORY', 'LAST LINE'],
    rows,
    selected,
    keys: KEYS,
    note: before?.note ?? '',
    asked: found >= 0 ? before?.asked : undefined,
  }
}

/** Parses the value of a row; undefined for one of another panel. */
export function readAgentsTarget(value: string): AgentsTarget | undefined {
  const [kind, agent = '', session = '', sender = ''] = value.split('\n')
  if (kind === 'agent') return { kind, agent }
  return kind === 'conversation' ? { kind, agent, session, sender } : undefined
}

const KEYS = [
  { key: 'o', label: 'or Enter open' },
  { key: 'x', label: 'end its turn', confirm: 'end its turn' },
  { key: 'n', label: 'new conversation' },
]

function describe(asks: number, runs: number, ended: number): string {
  const parts = [
    ...(asks > 0 ? [`${asks} asking`] : []),
    ...(runs > 0 ? [`${runs} running`] : []),
    ...(ended > 0 ? [`${ended} ended since you looked`] : []),
  ]
  return `Agents: ${parts.length === 0 ? 'nothing is running' : parts.join(' · ')}`
}

function activeRow(info: ActiveConversationInfo, ask: AskInfo | undefined, context: AgentsContext): PanelRow {
  const { agent, sender, session, cwd, runId, aliveSecs, activity } = info
  const state = ask
    ? formatState('asks', formatAge(ask.openedAt, context.now))
    : formatState(runId === '' ? 'compacts' : 'runs', formatSeconds(aliveSecs))
  const line = ask?.ask ? toAskLine(ask.ask) : activity
  const isHere = session === context.session
  const name = `${shownTitle(info)}${isHere ? ' (this window)' : ''}`
  return {
    value: toValue({ agent, session, sender }),
    cells: [state, name, agent, context.abbreviate(cwd), line],
    problem: '',
  }
}

function endedRow({ info, lastLine }: EndedConversation, context: AgentsContext): PanelRow {
  const { agent, sender, filePath: session, cwd, updatedAt } = info
  return {
    value: toValue({ agent, session, sender }),
    cells: [
      formatState('ended', formatAge(updatedAt, context.now)),
      shownTitle(info),
      agent,
      context.abbreviate(cwd),
      lastLine,
    ],
    problem: '',
  }
}

function moreRow(count: number): PanelRow {
  return { value: 'more', cells: ['ended', `${count} more: /resume lists them`, '', '', ''], problem: '' }
}

function agentRow({ name, description, model }: AgentInfo): PanelRow {
  const about = [description, model].filter((text) => text !== '').join(' · ')
  return {
    value: `agent\n${name}`,
    cells: ['start', `a conversation with ${name}`, name, '', about],
    problem: '',
  }
}

function toValue({ agent, session, sender }: { agent: string; session: string; sender: string }): string {
  return ['conversation', agent, session, sender].join('\n')
}

/** Pads the age, so that the columns behind it stay where they are when it grows by a digit. */
function formatState(state: string, age: string): string {
  return `${state} ${age.padStart(AGE_WIDTH)}`
}

const AGE_WIDTH = 3

function formatSeconds(seconds: number): string {
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m`
}
