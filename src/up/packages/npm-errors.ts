import { basename } from 'node:path'
import { CrabError, type ErrorKind } from '../../core/base/errors.ts'
import { isObject, parseObject } from '../../core/base/json.ts'
import { sanitize } from '../../core/base/sanitize.ts'

/** Converts a failure of npm to a CrabError. `args` are the arguments npm ran with. */
export function npmFailure(args: readonly string[], stdout: string, stderr: string): CrabError {
  const { code, summary } = readFailure(stdout, stderr)
  const spec = args[args.indexOf('--') + 1] ?? ''
  // Installs from a tarball, so a package missing from the registry is one of its dependencies.
  const isInstall = args[0] === 'install'
  const what = `Cannot ${VERBS[args[0] ?? ''] ?? 'run npm for'} ${isInstall ? basename(spec, '.tgz') : spec}`
  const row = ROWS.find(([pattern]) => pattern.test(code))
  if (!row) return new CrabError('failed', `${what}: npm says: ${summary || 'nothing'}`)
  const [, kind, why, hint] = row
  const isNeeded = isInstall && kind === 'missing'
  const detail = (kind === 'missing' && !isNeeded) || summary === '' ? '' : ` (${summary})`
  const reason = isNeeded ? 'the registry lacks one of its dependencies' : why
  const isOurs = kind === 'missing' && !isInstall && /^crabtalk-[a-z]+(@|$)/.test(spec)
  const isProgram = kind === 'missing' && PROGRAM.test(spec)
  const advice = isProgram ? FROM_FILE : isOurs ? FROM_CLONE : hint
  return new CrabError(kind, `${what}: ${reason}${detail}`, advice ? { hint: advice } : {})
}

/**
 * Whether npm could not write what it unpacked: it only warns about that, leaves empty files, and then fails
 * with another error or not at all.
 */
export function hasTarError(stderr: string): boolean {
  return TAR_ERROR.test(stderr)
}

/** With --json npm writes the failure to standard output; an earlier cause is on standard error. */
function readFailure(stdout: string, stderr: string): { code: string; summary: string } {
  const error = parseObject(stdout)?.['error']
  const { code, summary } = isObject(error) ? error : {}
  const lines = stderr.split('\n').filter((line) => /^npm (error|ERR!) (?!code |A complete log)/.test(line))
  const first = lines[0]?.replace(/^npm (error|ERR!) /, '') ?? stderr.trim().split('\n').at(-1) ?? ''
  const [, tarCode, tarWhy = ''] = TAR_ERROR.exec(stderr) ?? []
  if (tarCode !== undefined) return { code: tarCode, summary: sanitize(tarWhy).slice(0, 300) }
  return {
    code: typeof code === 'string' ? code : (/^npm (?:error|ERR!) code (\S+)/m.exec(stderr)?.[1] ?? ''),
    summary: sanitize(
      (typeof summary === 'string' && summary !== '' ? summary : first).split('\n')[0] ?? '',
    ).slice(0, 300),
  }
}

/** The packages of this program itself, one for each system. */
const PROGRAM = /^crabtalk-(linux|darwin|win32)-\w+(@|$)/
const FROM_FILE = 'crabup self update --from FILE takes an archive of a release'
const FROM_CLONE =
  'in a clone of crabtalk: npm run build:components, then crabup pull ./dist/components/NAME.tgz'

const TAR_ERROR = /^npm (?:warn|WARN) tar TAR_ENTRY_ERROR (E[A-Z]+): (.*)$/m

const VERBS: Readonly<Record<string, string>> = { view: 'look up', pack: 'fetch', install: 'install' }

const ROWS: readonly (readonly [code: RegExp, kind: ErrorKind, why: string, hint?: string])[] = [
  [/^(E404|ETARGET|ENOVERSIONS)$/, 'missing', 'the registry does not have that package or version'],
  [/^(E401|E403|ENEEDAUTH|EOTP)$/, 'credentials', 'the registry denied access', 'npm login'],
  [/^(EINTEGRITY|TAR_\w+|EBADMANIFEST|EJSONPARSE|Z_\w+)$/, 'invalid', 'the download is damaged'],
  [/^(ENOSPC|EDQUOT)$/, 'storage', 'the disk is full', 'free some space'],
  [/^(EACCES|EPERM|EROFS)$/, 'storage', 'npm cannot write the files'],
  [/^(EBADENGINE|EBADPLATFORM)$/, 'invalid', 'it does not run on this machine'],
  [
    /^(ENOTFOUND|ECONN\w+|ETIMEDOUT|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ERR_SOCKET_TIMEOUT|FETCH_ERROR|E5\d\d|E429|\w*CERT\w*|EPROTO)$/,
    'unavailable',
    'the registry cannot be reached',
    'npm ping checks the connection; npm config get registry prints the address',
  ],
]
