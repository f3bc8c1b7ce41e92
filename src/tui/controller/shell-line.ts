import { toCrabError } from '../../core/base/errors.ts'
import type { ChatPorts } from '../ports.ts'
import type { ChatAction } from '../state/actions.ts'

interface ShellContext {
  ports: Pick<ChatPorts, 'runShell'>
  act(action: ChatAction): void
  /** Adds context for the agent. */
  tell(text: string): void
}

/** Runs the user's own command line. Its output is printed and sent to the agent with the next message. */
export async function runShellLine(
  line: string,
  { ports, act, tell }: ShellContext,
  signal: AbortSignal,
): Promise<void> {
  const report = (end: string, output: string) =>
    tell(`<shell command=${JSON.stringify(line)} ${end}>\n${output}\n</shell>`)
  act({ type: 'print', block: { kind: 'output', title: `$ ${line}` } })
  act({ type: 'set', change: { hint: 'Esc ends it' } })
  let newest = ''
  const show = (shellSays: string) => {
    newest = shellSays
    act({ type: 'set', change: { shellSays } })
  }
  try {
    const { output, exitCode } = await ports.runShell(line, show, signal)
    const title = exitCode === 0 ? '' : `exit ${exitCode}`
    act({ type: 'print', block: { kind: 'output', title, text: foldOutput(output) } })
    report(`exit="${exitCode}"`, output)
  } catch (reason) {
    if (toCrabError(reason).kind === 'cancelled') {
      if (newest !== '') act({ type: 'print', block: { kind: 'output', title: '', text: `…\n${newest}` } })
      report('interrupted="true"', newest) // what the command did so far is not undone
    }
    throw reason
  } finally {
    act({ type: 'set', change: { hint: '', shellSays: '' } })
  }
}

/** Shortens a long output to its first and last lines. */
function foldOutput(output: string): string {
  const lines = output.trimEnd().split('\n')
  const left = lines.length - HEAD_LINES - TAIL_LINES
  if (left <= 1) return output
  return [...lines.slice(0, HEAD_LINES), `… ${left} more lines`, ...lines.slice(-TAIL_LINES)].join('\n')
}

const HEAD_LINES = 30
const TAIL_LINES = 10
