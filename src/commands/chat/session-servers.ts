import type { Host } from '../../cli/host.ts'
import type { Dispatch } from '../../core/protocol/dispatch.ts'
import { hasServerFiles } from '../../edge/entries/has-server-files.ts'
import type { UntrustedFile } from '../../edge/entries/server-trust.ts'
import type { SessionServerRow, SessionServersPort } from '../../tui/ports.ts'
import { openResolver, toSessionPlace } from '../session-servers.ts'

/** The context of a chat whose messages get servers. */
interface ChatContext {
  host: Host
  dispatch: Dispatch
  /** Whether the user turned MCP servers off. */
  isOff: boolean
  /** Returns the directory of the window. */
  cwd(): string
}

/** Opens the servers that files give to the conversations of a window. Nothing is loaded while there are no files. */
export function openSessionServers({ host, dispatch, isOff, cwd }: ChatContext): SessionServersPort {
  const reported = new Set<string>()
  /** The contents that the user did not decide about, and is not asked about again in this window. */
  const skipped = new Set<string>()
  const files = new Map<string, UntrustedFile>()
  let listed: { at: number; cwd: string; rows: readonly SessionServerRow[] } | undefined
  const open = () => ({ place: toSessionPlace(host, cwd()), resolver: openResolver(host) })
  return {
    async find(agent, signal) {
      if (isOff) return { ...NOTHING, options: { noMcp: true } }
      const context = open()
      if (!hasServerFiles(context.place)) return NOTHING
      const { findTurnServers } = await import('../../edge/entries/turn-servers.ts')
      const found = await findTurnServers(context, { agent, dispatch }, signal)
      const notes = found.notices.filter(({ text }) => !reported.has(text))
      for (const { text } of notes) reported.add(text)
      const file = found.unanswered.find(({ digest }) => !skipped.has(digest))
      if (file) files.set(file.path, file)
      return {
        options: { mcps: [...found.mcps] },
        notes: notes.map(({ text, hint }) => ({
          text: capitalize(text),
          ...(hint !== undefined && { hint }),
        })),
        unanswered: file && { path: file.path, question: toQuestion(file) },
      }
    },
    async answer({ path }, isTrusted, signal) {
      listed = undefined
      const file = files.get(path)
      if (!file) return
      if (isTrusted === undefined) skipped.add(file.digest)
      else await (await import('../trust/answer-servers.ts')).answerServers(host, { file, isTrusted }, signal)
    },
    async list({ readsNow = false } = {}) {
      const context = open()
      if (isOff || !hasServerFiles(context.place)) return []
      if (!readsNow && listed?.cwd === cwd() && Date.now() - listed.at < LIST_MS) return listed.rows
      const { findSessionServers } = await import('../../edge/entries/session-servers.ts')
      const { servers } = await findSessionServers(context.place, context.resolver)
      const rows = servers.map(({ server, state, entry, reason, hint }) => ({
        name: server.name,
        file: server.file,
        scope: server.scope,
        state,
        problem: [reason, hint].filter(Boolean).join(': '),
        ...(entry && { entry: JSON.stringify(entry) }),
      }))
      listed = { at: Date.now(), cwd: cwd(), rows }
      return rows
    },
    async logIn(login, signal) {
      listed = undefined
      const { logInFromChat } = await import('./log-in.ts')
      return await logInFromChat({ host, dispatch, cwd: cwd() }, login, signal)
    },
    async view(target, signal) {
      const { describeServers } = await import('./server-view.ts')
      return await describeServers(open(), { ...target, dispatch, isOff }, signal)
    },
  }
}

/** The time in milliseconds for which a list is kept: an open panel reads it every second, and values cost time. */
const LIST_MS = 5_000
const NOTHING = { options: {}, notes: [], unanswered: undefined }

function toQuestion({ path, description }: UntrustedFile): string {
  return [`Start the MCP servers of ${path}?`, '', ...description].join('\n')
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
