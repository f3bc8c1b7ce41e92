import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { toCrabError } from '../../core/base/errors.ts'
import { replaceFile } from '../../core/base/files.ts'
import type { VaultHome } from './types.ts'

/** The place of a key in a keychain. */
interface KeychainItem {
  vaultId: string
  id: string
}

/** The keychain of an operating system, used through its own program. Secrets are passed on standard input only. */
export interface Keychain {
  /** Its name, as in a sentence. */
  title: string
  /** Returns the secret; undefined when it is not there, or the keychain is locked. */
  read(item: KeychainItem, signal: AbortSignal): Promise<string | undefined>
  /** Stores a secret and reads it back. Returns why it failed; undefined when it is there. */
  write(item: KeychainItem & { secret: string }, signal: AbortSignal): Promise<string | undefined>
  /** Never fails. */
  remove(item: KeychainItem, signal: AbortSignal): Promise<void>
}

/** Returns the keychain of this operating system; undefined when it has none. */
export function findKeychain(home: VaultHome): Keychain | undefined {
  switch (home.platform) {
    case 'linux':
    case 'freebsd':
    case 'openbsd':
      return toKeychain(home, 'the Secret Service (secret-tool)', secretService)
    case 'darwin':
      return toKeychain(home, 'the macOS keychain', macKeychain)
    case 'win32':
      return toKeychain(home, 'the Windows data protection', (item) => dataProtection(home, item))
    default:
      return undefined
  }
}

/** The programs of a keychain, for one item. */
interface KeychainPrograms {
  read(): Promise<ProgramCall | undefined> | ProgramCall
  write(secret: string): ProgramCall
  /** Handles the output of a successful write. */
  written?(stdout: string): Promise<void>
  remove(): ProgramCall | Promise<void>
}

interface ProgramCall {
  argv: readonly [string, ...string[]]
  stdin?: string
}

function toKeychain(
  home: VaultHome,
  title: string,
  programsFor: (item: KeychainItem) => KeychainPrograms,
): Keychain {
  const call = async ({ argv, stdin }: ProgramCall, signal: AbortSignal) => {
    const options = { env: home.env, timeoutMs: TIME_LIMIT_MS, ...(stdin !== undefined && { stdin }) }
    const { code, stdout, stderr } = await home.run(argv, options, signal)
    const why = stderr.trim().split('\n')[0]!.slice(0, 200) || `${argv[0]} exited with code ${code}`
    return { stdout: stdout.trim(), problem: code === 0 ? undefined : why }
  }
  const keychain: Keychain = {
    title,
    async read(item, signal) {
      const program = await programsFor(item).read()
      const { stdout, problem } = program ? await call(program, signal) : { stdout: '', problem: undefined }
      return problem === undefined && stdout !== '' ? stdout : undefined
    },
    async write({ secret, ...item }, signal) {
      try {
        const programs = programsFor(item)
        const { stdout, problem } = await call(programs.write(secret), signal)
        if (problem !== undefined) return problem
        await programs.written?.(stdout)
        return (await keychain.read(item, signal)) === secret ? undefined : 'it does not return the key'
      } catch (reason) {
        const { kind, message } = toCrabError(reason)
        if (kind === 'cancelled') throw reason
        return message.replace(/^Cannot/, 'cannot')
      }
    },
    async remove(item, signal) {
      const program = await programsFor(item).remove()
      if (program) await call(program, signal).catch(() => undefined) // a key that no vault uses opens nothing
    },
  }
  return keychain
}

/** The Secret Service of Linux desktops (GNOME Keyring, KWallet, KeePassXC), through secret-tool of libsecret. */
function secretService({ vaultId, id }: KeychainItem): KeychainPrograms {
  const attributes = ['application', 'crabtalk', 'vault', vaultId, 'key', id]
  return {
    read: () => ({ argv: ['secret-tool', 'lookup', ...attributes] }),
    write: (secret) => ({
      argv: ['secret-tool', 'store', '--label=Key of the crabtalk vault', ...attributes],
      stdin: secret,
    }),
    remove: () => ({ argv: ['secret-tool', 'clear', ...attributes] }),
  }
}

/** The login keychain of macOS. `security -i` reads its commands from standard input, so that no secret is in argv. */
function macKeychain({ vaultId, id }: KeychainItem): KeychainPrograms {
  const item = ['-s', `crabtalk vault ${vaultId}`, '-a', id]
  const add = `add-generic-password -U -s "crabtalk vault ${vaultId}" -a ${id}`
  return {
    read: () => ({ argv: ['security', 'find-generic-password', ...item, '-w'] }),
    write: (secret) => ({ argv: ['security', '-i'], stdin: `${add} -w ${secret}\n` }),
    remove: () => ({ argv: ['security', 'delete-generic-password', ...item] }),
  }
}

/** The data protection of Windows (DPAPI): a file that only this user of this machine can decrypt. */
function dataProtection({ paths }: VaultHome, { id }: KeychainItem): KeychainPrograms {
  const path = join(paths.vaultKeys, `${id}.dpapi`)
  const convert = (method: 'Protect' | 'Unprotect', stdin: string): ProgramCall => ({
    argv: ['powershell.exe', '-NoProfile', '-NonInteractive', '-Command', dataProtectionScript(method)],
    stdin,
  })
  return {
    async read() {
      const sealed = await readFile(path, 'utf8').catch(() => undefined) // missing: there is no such key
      return sealed === undefined ? undefined : convert('Unprotect', sealed.trim())
    },
    write: (secret) => convert('Protect', Buffer.from(secret).toString('base64')),
    written: (stdout) => replaceFile(path, `${stdout}\n`),
    remove: () => rm(path, { force: true }),
  }
}

/** Returns a script that converts base64 of standard input; `Unprotect` prints the text itself. */
function dataProtectionScript(method: 'Protect' | 'Unprotect'): string {
  const print =
    method === 'Protect' ? '[Convert]::ToBase64String($out)' : '[Text.Encoding]::UTF8.GetString($out)'
  return [
    '$ErrorActionPreference = "Stop"',
    'Add-Type -AssemblyName System.Security',
    '$in = [Convert]::FromBase64String([Console]::In.ReadToEnd().Trim())',
    `$out = [Security.Cryptography.ProtectedData]::${method}($in, $null, "CurrentUser")`,
    `[Console]::Out.Write(${print})`,
  ].join('; ')
}

/** A keychain that asks the user to unlock it gets this long. */
const TIME_LIMIT_MS = 30_000
