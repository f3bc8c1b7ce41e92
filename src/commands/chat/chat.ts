import { constants } from 'node:os'
import { resolve } from 'node:path'
import { wantsColor } from '../../cli/color.ts'
import type { CommandHandler, ParsedOptions } from '../../cli/command.ts'
import { defaultSender } from '../../cli/conversation-address.ts'
import type { Host, TerminalStreams } from '../../cli/host.ts'
import { readPermissionSettings } from '../../cli/permission-settings.ts'
import { CrabError } from '../../core/base/errors.ts'
import { VERSION } from '../../core/base/version.ts'
import { DEFAULT_AGENT } from '../../core/config/default-name.ts'
import type { ChatOptions, ModeName } from '../../tui/ports.ts'
import type { Farewell } from '../../tui/state/farewell.ts'
import { isMcpOff } from '../session-servers.ts'
import { openChatPorts } from './ports.ts'
import { resolveConversationId } from './resolve-conversation-id.ts'
import { newWindowSender } from './window-memory.ts'

/** Runs `crabtalk chat`, and `crabtalk` without arguments on a terminal. */
export const chatCommand: CommandHandler = async ({ options, host, signal }) => {
  const settings = await toChatOptions(options, host)
  if (options.has('plain') || wantsPlain(host))
    return (await import('./plain.ts')).plainChat(host, settings, signal)
  const left = await openOnScreen({ settings, host }, signal)
  host.stdout.write((await import('./exit-hint.ts')).exitHint(left.farewell))
  return left.exitCode
}

/** Opens the chat on the screen, and restores the terminal afterwards. */
async function openOnScreen(
  { settings, host }: { settings: ChatOptions; host: Host },
  signal: AbortSignal,
): Promise<{ exitCode: number; farewell: Farewell }> {
  const screen = requireScreen(host)
  using _raw = rawMode(screen)
  await using opened = openChatPorts(host, settings)
  const session = await resolveConversationId(settings.session, opened.ports.dispatch, signal)
  using ended = abortOnSignal(host)
  const [{ openChat }, { guessReflow }] = await Promise.all([
    import('../../tui/chat.ts'),
    import('../../tui/terminal/reflow.ts'),
  ])
  const terminal = { ...screen, reflow: guessReflow(host.env) }
  const until = AbortSignal.any([signal, ended.signal])
  const farewell = await openChat(opened.ports, { ...settings, session }, terminal, until)
  return { exitCode: ended.exitCode, farewell }
}

/** Leaves the chat cleanly on a signal, and immediately on a second one. */
function abortOnSignal(host: Host): Disposable & { signal: AbortSignal; exitCode: number } {
  const stop = new AbortController()
  const ended = { signal: stop.signal, exitCode: 0 }
  const listening = host.onSignal((name) => {
    ended.exitCode = 128 + constants.signals[name]
    if (stop.signal.aborted) host.leave(ended.exitCode)
    stop.abort()
  })
  return Object.assign(ended, { [Symbol.dispose]: () => listening[Symbol.dispose]() })
}

/** Whether the terminal cannot be drawn on, or its user has it read aloud. */
function wantsPlain({ env }: Host): boolean {
  return env['TERM'] === 'dumb' || env['INK_SCREEN_READER'] === 'true'
}

/** Reads keys as they are typed from now on, including those typed before the first frame. */
function rawMode({ stdin, hooks }: TerminalStreams): Disposable {
  stdin.setRawMode(true)
  return { [Symbol.dispose]: () => hooks.makeCooked() }
}

function requireScreen(host: Host): TerminalStreams {
  const screen = host.screen()
  if (screen) return screen
  throw new CrabError('usage', 'Cannot open the chat: standard input and output are not a terminal', {
    hint: 'crabtalk send runs one turn in a pipe',
  })
}

async function toChatOptions(options: ParsedOptions, host: Host): Promise<ChatOptions> {
  const { allow, ask, deny } = await readPermissionSettings(options, host)
  const color = (options.value('color') ?? 'auto') as 'auto' | 'always' | 'never'
  const prompt = options.args.join(' ')
  const sender = options.value('sender')
  const resumed = options.value('resume')
  const picks = resumed === ''
  if (picks && prompt !== '') {
    throw new CrabError('usage', 'Cannot send a message: --resume without an ID opens a list first', {
      hint: 'name the conversation with --resume ID, or choose it and then type the message',
    })
  }
  return {
    agent: options.value('agent') ?? DEFAULT_AGENT,
    sender: sender ?? newWindowSender(),
    window: sender === undefined ? { person: defaultSender(host) } : undefined,
    model: options.value('model'),
    effort: options.value('effort'),
    session: picks ? undefined : resumed,
    fresh: options.has('new') || picks,
    picks,
    prompt: prompt === '' ? undefined : prompt,
    mode: options.has('yolo') ? 'all' : (options.value('mode') as ModeName | undefined),
    rules: { allow, ask, deny },
    roots: options.values('add-dir').map((path) => resolve(host.cwd(), path)),
    noMcp: options.has('no-mcp') || isMcpOff(host),
    color: wantsColor(color, host.env, host.stdout),
    version: VERSION,
  }
}
