import { confirm, declinedError } from '../../cli/ask/confirm.ts'
import type { CommandHandler, ParsedOptions } from '../../cli/command.ts'
import type { Host } from '../../cli/host.ts'
import { CrabError, toCrabError } from '../../core/base/errors.ts'
import { pluralize } from '../../core/base/format.ts'
import { endDaemon } from '../../daemon/serve/end-daemon.ts'
import { parseServiceLabel, toServiceLabel } from '../../up/names.ts'
import { isKeptAlive } from '../../up/ps/state.ts'
import {
  checkRemovable,
  findHomeConflict,
  type HomeEntry,
  homeContent,
  listComponentNames,
  removeComponents,
  removeContent,
} from '../../up/services/home-content.ts'
import {
  findHomeSupervisor,
  listUnitNames,
  openServicesContext,
  removeServicesFolder,
  type ServicesContext,
} from '../../up/services/services-context.ts'
import { toDaemonTarget } from '../daemon/running.ts'
import { bytesText } from './packages/facts-text.ts'
import { endHint } from './service/other-daemon.ts'
import { removalSteps } from './uninstall-program.ts'

/** `crabup uninstall`: removes services and components; data stays without --purge. */
export const uninstallCommand: CommandHandler = async ({ options, host, signal }) => {
  const context = await openServicesContext(host, signal)
  const names = await listUnitNames(context, signal)
  const data = await measureHome(context.paths, { purges: options.has('purge') })
  if (options.has('purge')) await checkOnlyHome(context, host)
  if (options.has('dry-run'))
    return await showPlan(host, { context, names, data, purges: options.has('purge') }, signal)
  if (options.has('purge')) await confirmPurge({ context, data: data ?? [], options, host }, signal)
  else await agreeToRemove({ context, names, options, host }, signal)
  await endServices(context, { names, host }, signal)
  const components = await removeComponents(context.paths)
  if (components.length > 0) host.stdout.write(`removed ${components.join(', ')}\n`)
  await endOnDemand(context, host, signal)
  await removeServicesFolder(context.paths)
  if (options.has('purge')) await purge(context, host)
  else printRemaining(context, { data, word: 'kept' }, host)
  await printOtherHomes(context, host, signal)
  for (const line of removalSteps(await host.build())) host.stdout.write(`${line}\n`)
  return 0
}

/** Measures the data of a home. Data that stays need not be readable; its size is then undefined. */
async function measureHome(
  paths: ServicesContext['paths'],
  { purges }: { purges: boolean },
): Promise<readonly HomeEntry[] | undefined> {
  return await homeContent(paths).catch((reason) => {
    if (purges) throw reason
    return undefined
  })
}

/** Names the services of other homes, which may run the same program. */
async function printOtherHomes(
  { manager, labels }: ServicesContext,
  host: Host,
  signal: AbortSignal,
): Promise<void> {
  const all = await manager.labels(signal).catch(() => [])
  const others = all.filter((label) => parseServiceLabel(label, labels) === undefined)
  if (others.length === 0) return
  host.stdout.write(`services of another home remain, and may run this program: ${others.join(', ')}\n`)
}

interface Plan {
  context: ServicesContext
  names: readonly string[]
  data: readonly HomeEntry[] | undefined
  purges: boolean
}

async function showPlan(
  host: Host,
  { context, names, data, purges }: Plan,
  signal: AbortSignal,
): Promise<number> {
  for (const name of names) host.stdout.write(`would end the service ${name} and remove its unit\n`)
  const daemons = await findOnDemand(context, signal)
  for (const daemon of daemons) host.stdout.write(`would end ${daemon}\n`)
  const components = await listComponentNames(context.paths)
  if (components.length > 0) host.stdout.write(`would remove ${components.join(', ')}\n`)
  if (purges) for (const line of sizes(data ?? [])) host.stdout.write(`would remove ${line.trim()}\n`)
  else printRemaining(context, { data, word: 'would keep' }, host)
  if (names.length + daemons.length + components.length > 0 || data?.length !== 0) return 0
  const { home } = context.paths
  host.stdout.write(`would remove nothing: there are no services, components or data in ${home}\n`)
  return 0
}

/** Asks for confirmation before anything is ended or removed. Throws `denied` for a no, and without a terminal. */
async function agreeToRemove(
  {
    context,
    names,
    options,
    host,
  }: { context: ServicesContext; names: readonly string[]; options: ParsedOptions; host: Host },
  signal: AbortSignal,
): Promise<void> {
  const components = (await listComponentNames(context.paths)).join(', ')
  const ended = [...names, ...(await findOnDemand(context, signal))].join(', ')
  if (ended === '' && components === '') return
  const removal = components === '' ? '' : `remove the components ${components}`
  const all = [ended && `end ${ended}`, names.length > 0 && 'remove the units', removal]
  const actions = all.filter((one) => one !== '' && one !== false)
  const action = actions.length > 2 ? `${actions[0]}, ${actions[1]} and ${actions[2]}` : actions.join(' and ')
  const question = `${action[0]!.toUpperCase()}${action.slice(1)}?`
  const answer = await confirm(question, { options, host }, signal)
  if (answer === false) throw declinedError(action)
  if (answer !== undefined) return
  throw new CrabError('denied', `Cannot ${action}: there is no terminal to ask for confirmation`, {
    hint: 'crabup uninstall --yes does it without asking',
  })
}

/** Names the daemon that a command started on demand, if it is running; it has no unit. */
async function findOnDemand({ probe }: ServicesContext, signal: AbortSignal): Promise<string[]> {
  const { answers, idleExitMs } = await probe('daemon', signal)
  return answers && idleExitMs !== undefined ? ['the on-demand daemon'] : []
}

/**
 * Confirms the removal of the data before anything has changed. Throws `denied` for a no and without a
 * terminal, and `conflict` when the data is in use.
 */
async function confirmPurge(
  {
    context,
    data,
    options,
    host,
  }: { context: ServicesContext; data: readonly HomeEntry[]; options: ParsedOptions; host: Host },
  signal: AbortSignal,
): Promise<void> {
  const { home } = context.paths
  await checkRemovable(home, data)
  await checkUnused(context, host, signal)
  const question = `${home} contains:\n${sizes(data).join('\n')}\nPermanently remove all of it?`
  const answer = await confirm(question, { options, host }, signal)
  if (answer === false) throw declinedError('remove the data')
  if (answer === undefined) {
    const size = bytesText(data.reduce((sum, { bytes }) => sum + bytes, 0))
    throw new CrabError(
      'denied',
      `Cannot remove ${home} (${size}): there is no terminal to ask for confirmation`,
      {
        hint: 'crabup uninstall --purge --yes removes it without asking',
      },
    )
  }
}

async function checkOnlyHome({ paths }: ServicesContext, { homeDir }: Host): Promise<void> {
  const more = await findHomeConflict(paths, homeDir)
  if (more === undefined) return
  throw new CrabError('conflict', `Cannot remove the data: ${more}`, {
    hint: 'remove what you no longer need by hand',
  })
}

/**
 * Throws for a process that the user runs by hand: only the user may end it, and it would continue to write.
 */
async function checkUnused(
  { probe, manager, labels }: ServicesContext,
  host: Host,
  signal: AbortSignal,
): Promise<void> {
  for (const name of ['daemon', 'cron']) {
    const [status] = await manager.status([toServiceLabel(name, labels)], signal)
    const { answers, pid, idleExitMs } = await probe(name, signal)
    if (!answers || isKeptAlive(status) || idleExitMs !== undefined) continue
    throw new CrabError('conflict', `Cannot remove the data: process ${pid} is ${name}, started by hand`, {
      hint: await endHint(name, pid, host),
    })
  }
}

/** Tries to end all services and reports failures at the end. */
async function endServices(
  { manager, labels, paths }: ServicesContext,
  { names, host }: { names: readonly string[]; host: Host },
  signal: AbortSignal,
): Promise<void> {
  // Read first, because the supervisor removes its record before it exits.
  const supervisor = await findHomeSupervisor(paths)
  const failures: CrabError[] = []
  for (const name of names) {
    try {
      await manager.remove(toServiceLabel(name, labels), signal)
      host.stdout.write(`ended ${name}; its unit is removed\n`)
    } catch (reason) {
      const { kind, message, hint } = toCrabError(reason)
      failures.push(new CrabError(kind, `${name}: ${message}`, { ...(hint && { hint }) }))
    }
  }
  const [first, ...others] = failures
  if (first)
    throw others.length === 0
      ? first
      : new CrabError(first.kind, failures.map(({ message }) => message).join('\n'))
  await supervisor?.ended()
}

/**
 * Ends a daemon that a command started on demand: it is not a service, so it is still running, and a later
 * command could start it again.
 */
async function endOnDemand({ probe }: ServicesContext, host: Host, signal: AbortSignal): Promise<void> {
  const { answers, idleExitMs, pid } = await probe('daemon', signal)
  if (!answers || idleExitMs === undefined) return
  await endDaemon(toDaemonTarget(host), signal)
  host.stdout.write(`ended the on-demand daemon (pid ${pid})\n`)
}

async function purge({ paths }: ServicesContext, host: Host): Promise<void> {
  const left = await removeContent(paths.home, await homeContent(paths))
  if (left.length === 0) host.stdout.write(`removed ${paths.home}\n`)
  else
    host.stdout.write(
      `removed the data in ${paths.home}; kept, because crabtalk did not create it: ${left.toSorted().join(', ')}\n`,
    )
}

function printRemaining(
  { paths }: ServicesContext,
  { data, word }: { data: readonly HomeEntry[] | undefined; word: string },
  host: Host,
): void {
  if (data?.length === 0) return
  const size =
    data === undefined ? 'it cannot be read' : bytesText(data.reduce((sum, { bytes }) => sum + bytes, 0))
  host.stdout.write(`${word} your data in ${paths.home} (${size}); crabup uninstall --purge removes it
`)
}

function sizes(data: readonly HomeEntry[]): string[] {
  const width = Math.max(0, ...data.map(({ name }) => name.length))
  return data.map(({ name, bytes, files }) => {
    const many = files > 1 ? `, ${pluralize(files - 1, 'file')}` : ''
    return `  ${name.padEnd(width)}  ${bytesText(bytes)}${many}`
  })
}
