import type { CommandHandler } from '../../../cli/command.ts'
import type { Host } from '../../../cli/host.ts'
import { ERROR_KINDS, toCrabError } from '../../../core/base/errors.ts'
import { sanitize } from '../../../core/base/sanitize.ts'
import { type ComponentUpdate, findUpdates, pullComponent } from '../../../up/packages/components.ts'
import { type OpenPackagePorts, openPackagePorts, printLastLogLines } from './package-ports.ts'
import { pullResultText } from './pull.ts'

/**
 * `crabup update`: updates every component to its newest version; a failed update does not affect the others.
 */
export const updateComponentsCommand: CommandHandler = async ({ options, host, commands, signal }) => {
  await using open = await openPackagePorts({ host, options, commands, signal })
  const updates = await findUpdates(open.ports, open.signal)
  open.status.clear()
  if (updates.length === 0) {
    host.stdout.write('no components are installed\n')
    return 0
  }
  const changing = updates.flatMap((one) =>
    one.version === undefined ? [] : { ...one, version: one.version },
  )
  for (const { service, version } of changing) {
    host.stdout.write(`${service.name}: ${service.version} → ${version}\n`)
  }
  printUpToDate(host, updates)
  await printFailed(host, updates)
  let code = 0
  for (const { service, version } of options.has('dry-run') ? [] : changing) {
    const one = { name: service.name, package: service.package, version }
    code = (await updateOne(one, { open, host })) || code
  }
  return printProblems(host, updates) || code
}

function printUpToDate(host: Host, updates: readonly ComponentUpdate[]): void {
  const same = updates.filter(({ version, failed, problem }) => !version && !failed && !problem)
  const names = same.map(({ service }) => `${service.name} ${service.version}`)
  if (names.length > 0) host.stdout.write(`up to date: ${names.join(', ')}\n`)
}

/** A failed version is tried again only on request, so this prints the command. */
async function printFailed(host: Host, updates: readonly ComponentUpdate[]): Promise<void> {
  await host.stdout.flush()
  for (const { service, failed } of updates) {
    if (!failed) continue
    const { version, at, why } = failed
    host.stderr.write(
      `crabup: ${service.name}: ${version} was tried on ${at.slice(0, 10)} and is not tried again: ${sanitize(why)}\n`,
    )
    host.stderr.write(`hint: crabup pull ${service.package} --version ${version} tries it again\n`)
  }
}

async function updateOne(
  one: { name: string; package: string; version: string },
  { open, host }: { open: OpenPackagePorts; host: Host },
): Promise<number> {
  try {
    const result = await pullComponent(
      { kind: 'registry', package: one.package, version: one.version },
      open.ports,
      open.signal,
    )
    open.status.clear()
    host.stdout.write(`${pullResultText(result)}\n`)
    return 0
  } catch (reason) {
    open.status.clear()
    if (open.signal.aborted) throw reason
    const { message, kind, hint } = toCrabError(reason)
    await host.stdout.flush()
    printLastLogLines(host, reason)
    host.stderr.write(`crabup: ${one.name}: ${sanitize(message)}\n`)
    if (hint !== undefined) host.stderr.write(`hint: ${sanitize(hint)}\n`)
    return ERROR_KINDS[kind].exit
  }
}

/**
 * Prints failed lookups and returns the exit code. A component that came from a file is not a failure,
 * because it cannot have a newer version.
 */
function printProblems(host: Host, updates: readonly ComponentUpdate[]): number {
  let code = 0
  for (const { service, problem } of updates) {
    if (problem === undefined) continue
    host.stderr.write(`crabup: ${service.name}: ${sanitize(problem.message)}\n`)
    if (service.origin === 'registry') code = ERROR_KINDS[problem.kind].exit
  }
  return code
}
