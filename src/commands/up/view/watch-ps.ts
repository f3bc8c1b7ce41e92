import { setTimeout as sleep } from 'node:timers/promises'
import { wantsColor } from '../../../cli/color.ts'
import type { Host } from '../../../cli/host.ts'
import { SIGNAL_EXIT, StopController } from '../../../cli/stop-controller.ts'
import { CrabError, toCrabError } from '../../../core/base/errors.ts'
import { toShownJson } from '../../../core/base/json.ts'
import type { ServicesSnapshot } from '../../../up/services/collect-services.ts'
import { truncateAnsi, wrapAnsi } from './ansi.ts'
import { openFullScreen } from './full-screen.ts'
import { toJson, toParts } from './services-output.ts'

interface PsWatchOptions {
  host: Host
  isJson: boolean
  collect(signal: AbortSignal): Promise<ServicesSnapshot>
}

/** Refreshes the list until `q` or a signal: as JSON lines, or as frames on a terminal. */
export async function watchPs(options: PsWatchOptions): Promise<number> {
  return options.isJson ? await printAll(options) : await drawAll(options)
}

async function printAll({ host, collect }: PsWatchOptions): Promise<number> {
  using stop = new StopController({ host, timeoutMs: 0, idleTimeoutMs: 0 })
  try {
    for (;;) {
      await host.stdout.write(`${toShownJson(toJson(await collect(stop.signal)))}\n`)
      await sleep(EVERY_MS, undefined, { signal: stop.signal })
    }
  } catch (reason) {
    if (stop.exit === undefined) throw toCrabError(reason)
    return stop.exit
  }
}

async function drawAll({ host, collect }: PsWatchOptions): Promise<number> {
  const terminal = host.env['TERM'] === 'dumb' ? undefined : host.screen()
  if (!terminal) {
    throw new CrabError('usage', 'Cannot watch the services: standard input and output are not a terminal', {
      hint: 'with --json it prints one object per line to any output',
    })
  }
  const over = new AbortController()
  let code = 0
  const end = (with_: number) => {
    code = with_
    over.abort()
  }
  using _signals = host.onSignal((name) => (over.signal.aborted ? host.leave(code) : end(SIGNAL_EXIT[name])))
  using screen = openFullScreen(terminal)
  let snapshot: ServicesSnapshot | undefined
  const draw = async () => {
    if (snapshot && !over.signal.aborted) screen.draw(await frame(snapshot, screen.size(), host))
  }
  screen.listen(
    (keys) => {
      if (keys.includes(CTRL_C)) end(SIGNAL_EXIT.SIGINT)
      else if (/q/i.test(keys) || keys.includes(CTRL_D)) end(0)
    },
    () => void draw(),
  )
  try {
    for (;;) {
      snapshot = await collect(over.signal)
      await draw()
      await sleep(EVERY_MS, undefined, { signal: over.signal })
    }
  } catch (reason) {
    if (!over.signal.aborted) throw toCrabError(reason)
    return code
  }
}

/** Fits the content to the terminal; the last line counts the lines that do not fit. */
async function frame(
  snapshot: ServicesSnapshot,
  { columns, rows }: { columns: number; rows: number },
  host: Host,
): Promise<string[]> {
  const { default: width } = await import('string-width')
  const color = wantsColor('auto', host.env, host.stdout)
  const { table, notes } = await toParts(snapshot, { color, columns })
  const lines = [
    ...table,
    ...notes
      .flatMap((line) => wrapAnsi(line, columns, width))
      .map((line) => truncateAnsi(line, columns, width)),
  ]
  if (lines.length <= rows) return lines
  return [...lines.slice(0, rows - 1), `… ${lines.length - rows + 1} more lines; q quits`]
}

const CTRL_C = '\u0003'
const CTRL_D = '\u0004'
const EVERY_MS = 2000
