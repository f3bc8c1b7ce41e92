import { confirm, declinedError } from '../../../cli/ask/confirm.ts'
import type { Command, ParsedOptions } from '../../../cli/command.ts'
import type { Host } from '../../../cli/host.ts'
import { resolvePaths } from '../../../cli/paths.ts'
import { CrabError } from '../../../core/base/errors.ts'
import { sanitize } from '../../../core/base/sanitize.ts'
import { takeStart } from '../../../core/base/truncate.ts'
import { toUpHost } from '../../../up/host.ts'
import { toServiceLabel } from '../../../up/names.ts'
import { probeNode } from '../../../up/packages/node-programs.ts'
import { findNpm } from '../../../up/packages/npm.ts'
import type { PackageOffer, PackagePorts, ServicePorts } from '../../../up/packages/ports.ts'
import { NotReadyError, waitReady } from '../../../up/services/ready.ts'
import { buildSpecContext } from '../../../up/services/spec-context.ts'
import { factsText } from './facts-text.ts'

/** The ports for installing packages, until disposed. */
export interface OpenPackagePorts extends AsyncDisposable {
  ports: PackagePorts
  status: StatusLine
  /** Aborted by Ctrl-C and by termination signals; a second signal ends the process immediately. */
  signal: AbortSignal
}

/** Opens the ports for installing packages, for a command of crabup. */
export async function openPackagePorts(at: {
  host: Host
  options: ParsedOptions
  commands: readonly Command[]
  signal: AbortSignal
}): Promise<OpenPackagePorts> {
  const { host, options, commands } = at
  const paths = resolvePaths(host)
  const up = toUpHost(host)
  const stop = new AbortController()
  const listening = host.onSignal(() => (stop.signal.aborted ? host.leave(INTERRUPTED) : stop.abort()))
  const status = new StatusLine(host)
  const { SqliteLeases } = await import('../../../core/lease/sqlite-leases.ts')
  const leases = new SqliteLeases({ database: paths.leases, proc: paths.proc, pid: host.pid })
  const ports: PackagePorts = {
    paths,
    platform: up.platform,
    pid: host.pid,
    reserved: new Set(commands.map(({ path }) => path[0]!)),
    now: up.now,
    node: async (signal) => {
      const { node } = await buildSpecContext(host)
      return node === undefined ? undefined : await probeNode(node, up, signal)
    },
    npm: () => findNpm(up, host.cwd()),
    lock: (resource, signal) => leases.take(resource, signal),
    isLocked: async (resource) => (await leases.describeHolder(resource)) !== undefined,
    services: servicePorts(host),
    consent: (offer, signal) => askConsent(offer, { host, options, status }, signal),
    step: (text) => status.show(text),
  }
  return {
    ports,
    status,
    signal: AbortSignal.any([at.signal, stop.signal]),
    async [Symbol.asyncDispose]() {
      status.clear()
      listening[Symbol.dispose]()
      await leases[Symbol.asyncDispose]()
    },
  }
}

/** Prints the last log lines of a service that did not start with its new version. */
export function printLastLogLines(host: Host, reason: unknown): void {
  const cause = reason instanceof Error ? reason.cause : undefined
  if (!(cause instanceof NotReadyError) || cause.lines.length === 0) return
  host.stderr.write(`${cause.lines.map((line) => `  ${line}`).join('\n')}\n`)
}

function servicePorts(host: Host): ServicePorts {
  return {
    async isRunning(name, signal) {
      return await (await import('../../../up/services/open-service.ts')).isServiceRunning(host, name, signal)
    },
    async hasFailed(name, signal) {
      const { openService, fetchStatus } = await import('../../../up/services/open-service.ts')
      return (await fetchStatus(await openService(host, name, signal), signal)).state === 'failed'
    },
    /** Restarts a service that has ended too, because a version that does not start leaves it in that state. */
    async restart(name, signal) {
      const at = await (await import('../../../up/services/open-service.ts')).openService(host, name, signal)
      const { markLogs } = await import('../../../up/logs/last-lines.ts')
      const mark = await markLogs(at.paths.logs, name)
      await at.manager.restart(at.spec(), signal)
      await waitReady(at, mark, signal)
    },
    async remove(name, signal) {
      const { openService } = await import('../../../up/services/open-service.ts')
      // The daemon stands in for any service to open the manager: the service of a broken package cannot be
      // opened.
      const { manager, paths, context } = await openService(host, 'daemon', signal)
      await manager.remove(toServiceLabel(name, { home: paths.home, usualHome: context.usualHome }), signal)
    },
  }
}

async function askConsent(
  offer: PackageOffer,
  { host, options, status }: { host: Host; options: ParsedOptions; status: StatusLine },
  signal: AbortSignal,
): Promise<void> {
  status.clear()
  host.stdout.write(factsText(offer))
  await host.stdout.flush()
  if (offer.isTrusted) return
  const { facts } = offer
  const isYes = await confirm(`Install ${facts.package} ${facts.version}?`, { options, host }, signal)
  if (isYes === undefined) {
    throw new CrabError(
      'denied',
      `Cannot install ${facts.package}: there is no terminal to ask for confirmation`,
      {
        hint: 'check where it comes from, then add --yes to install it without asking',
      },
    )
  }
  if (!isYes) throw declinedError(`install ${facts.package}`)
}

/**
 * The current step as one transient line of a terminal: each step replaces the previous one, and nothing of
 * it stays. Prints nothing to a pipe.
 */
class StatusLine implements Disposable {
  readonly #host: Pick<Host, 'stderr' | 'env' | 'columns'>
  #isShown = false

  constructor(host: Pick<Host, 'stderr' | 'env' | 'columns'>) {
    this.#host = host
  }

  show(text: string): void {
    const { stderr, env, columns } = this.#host
    if (!stderr.isTerminal || env['TERM'] === 'dumb') return
    stderr.write(`${ERASE_LINE}${takeStart(sanitize(text), columns() - 3)} …`) // a wrapped line could not be erased
    this.#isShown = true
  }

  /** Erases the line; call it before printing anything else. */
  clear(): void {
    if (this.#isShown) this.#host.stderr.write(ERASE_LINE)
    this.#isShown = false
  }

  [Symbol.dispose](): void {
    this.clear()
  }
}

const INTERRUPTED = 130
const ERASE_LINE = '\r\u001b[2K'
