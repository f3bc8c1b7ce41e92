import { resolve } from 'node:path'
import type { CommandHandler, ParsedOptions } from '../../../cli/command.ts'
import type { Host } from '../../../cli/host.ts'
import { withProgress } from '../../../cli/progress.ts'
import { CrabError, ERROR_KINDS, toCrabError } from '../../../core/base/errors.ts'
import { quoteWord } from '../../../core/base/quote-word.ts'
import { sanitize } from '../../../core/base/sanitize.ts'
import { VERSION } from '../../../core/base/version.ts'
import { toUpHost } from '../../../up/host.ts'
import { findNpmProgram } from '../../../up/packages/node-programs.ts'
import { findNpm } from '../../../up/packages/npm.ts'
import type { UpdateSource } from '../../../up/self/candidate.ts'
import { detectInstallation, type Installation, oldProgram } from '../../../up/self/installation.ts'
import {
  type OwnProgram,
  ownProgram,
  rollBack,
  type SelfUpdate,
  updateProgram,
} from '../../../up/self/update.ts'
import { isRestartFailure, type RestartResult, restartOutdatedServices, restartServices } from './services.ts'

/** `crabup self update`: replaces this program with another version. */
export const selfUpdateCommand: CommandHandler = async ({ options, host }) => {
  const stop = new AbortController()
  using _listening = host.onSignal(() => stop.abort())
  const source = readSource(options, host)
  const installation = detectInstallation(await host.build())
  if (installation.kind === 'npm') {
    return await updateByNpm({ installation, source, options, host }, stop.signal)
  }
  if (installation.kind === 'source') {
    throw new CrabError('conflict', `Cannot update ${installation.path}: it runs from its sources`, {
      hint: 'git pull && npm ci',
    })
  }
  const own = await ownProgram({ path: installation.path, version: VERSION }, toUpHost(host), stop.signal)
  const update = options.has('rollback')
    ? await rollBack(own, toUpHost(host), stop.signal)
    : await fetchAndSwitch(own, source, host, stop.signal)
  host.stdout.write(`${toLine(update, own.path)}\n`)
  if (update.outcome === 'same') return 0
  await warnWrongConfig({ program: own.path, version: update.to, host }, stop.signal)
  const at = { program: own.path, restarts: options.has('restart'), host }
  const settled = await restartOutdatedServices(at, stop.signal)
  if (!isRestartFailure(settled)) return settled.code
  if (options.has('rollback')) {
    host.stderr.write(`hint: crabup self update --rollback restores crabtalk ${update.from}\n`)
    return settled.code
  }
  return await revertUpdate({ update, settled, own, host }, stop.signal)
}

/**
 * Warns when the new version rejects the configuration: running services continue, but would not start again.
 */
async function warnWrongConfig(
  { program, version, host }: { program: string; version: string; host: Host },
  signal: AbortSignal,
): Promise<void> {
  const { run, env } = toUpHost(host)
  const { code, stdout } = await run([program, 'config', 'check'], { env }, signal)
  if (code !== ERROR_KINDS.config.exit) return
  host.stderr.write(`crabup: your configuration is invalid for crabtalk ${version}:\n`)
  for (const line of stdout.trimEnd().split('\n')) host.stderr.write(`  ${sanitize(line)}\n`)
  host.stderr.write('hint: fix it, or run crabup self update --rollback\n')
}

/**
 * Rolls back the program after a failed restart, and restarts the services that had switched to the new
 * version.
 */
async function revertUpdate(
  { update, settled, own, host }: { update: SelfUpdate; settled: RestartResult; own: OwnProgram; host: Host },
  signal: AbortSignal,
): Promise<number> {
  await rollBack({ ...own, version: update.to }, toUpHost(host), signal).catch((reason) => {
    const { kind, message } = toCrabError(reason)
    const hint = `restore it by hand: mv ${quoteWord(oldProgram(own.path))} ${quoteWord(own.path)}`
    throw new CrabError(kind, message, { cause: reason, hint })
  })
  const { failed, restarted } = settled
  host.stderr.write(
    `crabup: ${failed?.name} does not run with crabtalk ${update.to}, so crabtalk ${update.from} was restored\n`,
  )
  const names = failed && !failed.isUntouched ? [...restarted, failed.name] : restarted
  await restartServices(names, { program: own.path, host }, signal)
  return settled.code
}

/** Reads the source options and rejects combinations that contradict each other. */
function readSource(options: ParsedOptions, host: Host): UpdateSource {
  const [from, sha256, version] = ['from', 'sha256', 'version'].map((name) => options.value(name))
  const sources = [from, version, options.has('rollback') || undefined].filter((one) => one !== undefined)
  if (sources.length > 1)
    throw new CrabError('usage', 'Cannot combine --from, --version and --rollback: give only one of them')
  if (sha256 !== undefined && from === undefined) {
    throw new CrabError('usage', 'Cannot use --sha256 without --from: npm verifies its own downloads', {
      hint: 'crabup self update --from FILE --sha256 HEX',
    })
  }
  return {
    ...(from !== undefined && { file: resolve(host.cwd(), from) }),
    ...(sha256 !== undefined && { sha256 }),
    ...(version !== undefined && { version }),
  }
}

async function fetchAndSwitch(
  own: { path: string; version: string },
  source: UpdateSource,
  host: Host,
  signal: AbortSignal,
): Promise<SelfUpdate> {
  const upHost = toUpHost(host)
  const npm = () => findNpm(upHost, host.cwd())
  const what = source.file ?? `crabtalk ${source.version ?? 'from npm'}`
  return await withProgress(
    host,
    `Fetching ${what}`,
    updateProgram(own, source, { host: upHost, npm }, signal),
  )
}

function toLine({ from, to, outcome, previous }: SelfUpdate, path: string): string {
  return outcome === 'same'
    ? `crabtalk ${to} is already installed`
    : `crabtalk ${from} → ${to}: ${path}; the previous version is ${previous}`
}

interface NpmUpdate {
  installation: Extract<Installation, { kind: 'npm' }>
  source: UpdateSource
  options: ParsedOptions
  host: Host
}

/** Updates an npm installation by running npm. */
async function updateByNpm(
  { installation, source, options, host }: NpmUpdate,
  signal: AbortSignal,
): Promise<number> {
  const { prefix, folder } = installation
  if (prefix === undefined) {
    throw new CrabError(
      'conflict',
      `Cannot update ${installation.path}: it is a dependency of the project in ${folder}`,
      {
        hint: 'run npm install crabtalk@latest there',
      },
    )
  }
  const args = ['install', '--global', '--prefix', prefix, `crabtalk@${source.version ?? 'latest'}`]
  const line = ['npm', ...args].map(quoteWord).join(' ')
  if (source.file !== undefined || options.has('rollback')) {
    throw new CrabError('conflict', 'Cannot replace a program that npm installed', { hint: line })
  }
  host.stderr.write(`npm installed this program, so npm updates it: ${line}\n`)
  await host.stderr.flush()
  const { runForeground } = await import('../../../core/process/foreground.ts')
  const code = await runForeground([...(await findNpmProgram(toUpHost(host), host.cwd())), ...args], host.env)
  const restarts = options.has('restart')
  if (code !== 0) return code
  const settled = await restartOutdatedServices({ program: installation.path, restarts, host }, signal)
  if (isRestartFailure(settled)) {
    const back = [...args.slice(0, -1), `crabtalk@${VERSION}`].map(quoteWord).join(' ')
    host.stderr.write(
      `to restore the previous version: npm ${back} && crabup ${settled.failed?.name} restart\n`,
    )
  }
  return settled.code
}
