import { wantsColor } from '../../cli/color.ts'
import { formatError } from '../../cli/error-text.ts'
import type { Host } from '../../cli/host.ts'
import { StopController } from '../../cli/stop-controller.ts'
import { OUTPUT_VERSION, type RunRecord, toErrorObject } from '../../cli/turn/record.ts'
import { ERROR_KINDS, toCrabError } from '../../core/base/errors.ts'
import { toShownJson } from '../../core/base/json.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { attach } from '../../daemon/attach.ts'
import { readInput } from './input.ts'
import { markContinued, newRunRecord, prepareMessage } from './run.ts'
import { daemonFor, type SendSettings } from './settings.ts'

/**
 * Runs `crabtalk send --detach`: prints the id of a run as soon as it is accepted, and exits; the turn
 * continues in the daemon. Returns the exit code.
 */
export async function sendDetached(at: {
  program: string
  settings: SendSettings
  host: Host
  debug: boolean
}): Promise<number> {
  const { program, settings, host, debug } = at
  using stop = new StopController({ host, timeoutMs: 0, idleTimeoutMs: 0 })
  const record = newRunRecord(settings)
  const error = await begin({ settings, host, record }, stop.signal).then(() => undefined, toCrabError)
  const exit = stop.exit ?? (error ? ERROR_KINDS[error.kind].exit : 0)
  if (settings.form === 'json') host.stdout.write(`${toShownJson(toJson(record, { error, exit }))}\n`)
  else if (!error) host.stdout.write(`${record.run}\n`)
  await host.stdout.flush()
  if (stop.exit !== undefined) return exit
  if (error) {
    const color = wantsColor(settings.color, host.env, host.stderr)
    host.stderr.write(formatError(error, { program, debug, color }))
  } else if (host.stderr.isTerminal && settings.verbosity >= 0) {
    host.stderr.write(
      `${program}: the run continues in the daemon; ${program} wait and attach take this id\n`,
    )
  }
  return exit
}

async function begin(
  { settings, host, record }: { settings: SendSettings; host: Host; record: RunRecord },
  signal: AbortSignal,
): Promise<void> {
  const input = await readInput(settings, host, signal)
  await using attached = await attach(host, {
    daemon: daemonFor(settings),
    task: 'run the turn in a daemon',
    signal,
  })
  const { dispatch } = attached
  const message = await prepareMessage({ settings, host, record, input, dispatch }, signal)
  const { agent, runId } = await request(dispatch, 'send', { ...message, detach: true }, signal)
  record.agent = agent
  record.run = runId
  if (settings.target.kind !== 'last') return
  const { id } = await request(dispatch, 'getSession', { agent, sender: record.sender }, signal)
  await markContinued(settings, id, host)
}

function toJson(
  { agent, sender, run }: RunRecord,
  { error, exit }: { error: ReturnType<typeof toCrabError> | undefined; exit: number },
) {
  const errorObject = error ? toErrorObject(error) : null
  return { v: OUTPUT_VERSION, type: 'detached', ok: exit === 0, exit, agent, sender, run, error: errorObject }
}
