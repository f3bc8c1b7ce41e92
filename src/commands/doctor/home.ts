import { constants, type Stats } from 'node:fs'
import { access, chmod, stat, statfs } from 'node:fs/promises'
import { platform } from 'node:os'
import { dirname } from 'node:path'
import {
  type Check,
  type CheckContext,
  type CheckResult,
  type Fix,
  note,
  ok,
  problem,
  warning,
} from '../../cli/check.ts'
import type { Host } from '../../cli/host.ts'
import { quoteWord } from '../../core/base/quote-word.ts'
import { userName } from '../../core/base/user.ts'
import { findForeignMark, foreignHomeHint } from '../../core/config/foreign-home.ts'
import { findSecretFiles } from './secret-files.ts'

/** Checks that the home can be written, belongs only to the user, and has free space. */
export const checkHomeFolder: Check = async (context) => {
  const { paths, host } = context
  const where = host.env['CRABTALK_HOME'] ? `${paths.home} (CRABTALK_HOME)` : paths.home
  const home = await statOrUndefined(paths.home)
  if (home && !home.isDirectory())
    return [problem(`${where} is not a directory`, 'move it away, or set CRABTALK_HOME')]
  const mark = await findForeignMark(paths)
  if (mark !== undefined)
    return [problem(`${where} belongs to the Rust crabtalk (${mark})`, foreignHomeHint(paths))]
  const nearest = home ? paths.home : await findExistingParent(paths.home)
  return [
    home ? ok(`is in ${where}`) : note(`${where} does not exist yet; the first turn creates it`),
    ...(await checkWritable(nearest)),
    ...checkOwnership(home, host),
    ...(await checkSecretModes(context)),
    ...(await checkFreeSpace(nearest)),
  ]
}

async function checkWritable(folder: string): Promise<CheckResult[]> {
  try {
    await access(folder, constants.W_OK | constants.X_OK)
    return []
  } catch {
    return [problem(`${folder} cannot be written`, 'change its permissions, or set CRABTALK_HOME')]
  }
}

/** Reports a home of another user, which `sudo crabtalk` leaves behind. */
function checkOwnership(home: Stats | undefined, { uid }: Pick<Host, 'uid'>): CheckResult[] {
  if (!home || platform() === 'win32' || home.uid === uid) return []
  const name = userName() ?? String(uid)
  return [warning(`the home belongs to user ${home.uid}, not to ${name}`, `chown -R ${name} it`)]
}

/** Checks that other users have no access to sockets, leases and files with secrets. */
async function checkSecretModes({ paths }: CheckContext): Promise<CheckResult[]> {
  if (platform() === 'win32') return []
  const home = await statOrUndefined(paths.home)
  if (home && (home.mode & 0o077) === 0) return [ok('only you can open the home, and so its secrets')]
  const files = await findSecretFiles(paths)
  const entered = await findAccessible([paths.run, paths.vaultKeys])
  const read = await findAccessible(files.certain)
  const perhaps = await findAccessible(files.possible)
  const open = [
    ...entered.map((path) => ({
      ...problem(`${path}: others can enter it`, `chmod 700 ${quoteWord(path)}`),
      fix: { done: `only you can enter ${path}`, apply: () => chmod(path, 0o700) },
    })),
    ...read.map((path) => ({
      ...problem(`${path}: others can read the secrets in it`, chmodCommand(path)),
      fix: toReadFix(path),
    })),
    ...perhaps.map((path) => ({
      ...warning(`${path}: others can read it, and it may hold secrets`, chmodCommand(path)),
      fix: toReadFix(path),
    })),
  ]
  return open.length > 0 ? open : [ok('only you can read the secrets')]
}

async function findAccessible(paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(paths.map(async (path) => ({ path, stat: await statOrUndefined(path) })))
  return found.filter(({ stat }) => stat && (stat.mode & 0o077) !== 0).map(({ path }) => path)
}

function toReadFix(path: string): Fix {
  return { done: `only you can read ${path}`, apply: () => chmod(path, 0o600) }
}

function chmodCommand(path: string): string {
  return `chmod 600 ${quoteWord(path)}`
}

async function checkFreeSpace(folder: string): Promise<CheckResult[]> {
  const { bavail, bsize } = await statfs(folder)
  const free = bavail * bsize
  const text = free >= 1e9 ? `${(free / 1e9).toFixed(1)} GB` : `${Math.floor(free / 1e6)} MB`
  if (free < MIN_BYTES) return [problem(`only ${text} of disk space are free`, 'make room on that disk')]
  if (free < LOW_BYTES) return [warning(`only ${text} of disk space are free`, 'make room on that disk')]
  return [ok(`${text} are free`)]
}

async function findExistingParent(path: string): Promise<string> {
  const above = dirname(path)
  return above === path || (await statOrUndefined(above)) ? above : await findExistingParent(above)
}

async function statOrUndefined(path: string): Promise<Stats | undefined> {
  return await stat(path).catch(() => undefined) // missing or not accessible
}

const MIN_BYTES = 10e6
const LOW_BYTES = 200e6
