import { readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { CrabError } from '../base/errors.ts'

/**
 * Everything under the home directory, and the keys of its vault and the user's servers, as absolute paths. Folders
 * need not exist.
 */
export interface HomePaths {
  readonly home: string
  /** config.toml, which the user writes; programs write the default model only. */
  readonly config: string
  readonly agents: string
  readonly sessions: string
  /** The input history of the chat, shared by all its sessions. */
  readonly history: string
  readonly memory: string
  /** Search checkpoints and catalogs; can be rebuilt. */
  readonly index: string
  readonly skills: string
  /** Crab.md, the user's global instructions. */
  readonly instructions: string
  /** trust.toml: the folders whose files the user trusts, or does not trust. */
  readonly trust: string
  /** The user's mcp.toml, in the configuration directory of the user and not below the home. */
  readonly userServers: string
  readonly subscriptions: string
  readonly crons: string
  /** Keys and other variables that crabup passes to services; mode 0600. */
  readonly serviceEnv: string
  /** The user's own MCP templates. */
  readonly catalog: string
  readonly packages: string
  /** The encrypted file with the user's credentials. */
  readonly vault: string
  /** An empty file whose time is that of the last change that the user made to the vault. */
  readonly vaultChanged: string
  /**
   * The folder with keys of vaults, outside of the home so that a copy of the home cannot be decrypted; inside
   * it for a user without a home directory.
   */
  readonly vaultKeys: string
  /** `.env`, the user's own file of credentials, as other programs read it. */
  readonly dotEnv: string
  /** Sockets, port files, leases.db and proc; mode 0700. */
  readonly run: string
  readonly leases: string
  readonly proc: string
  /** One folder per agent, for turns without a working directory. */
  readonly workspace: string
  /** Files that can be deleted at any time. */
  readonly cache: string
  /** Backups of files from before each turn, in a folder per session and turn; below `cache`. */
  readonly undo: string
  readonly logs: string
}

/** The directories that paths are resolved against. */
interface PathContext {
  /** The working directory, absolute. */
  cwd: string
  /** The user's home directory; empty when the system does not know one. */
  homeDir: string
}

/**
 * Resolves the paths of `$CRABTALK_HOME`, by default `~/.crabtalk`.
 *
 * A relative value is resolved against `cwd`; an empty one counts as unset. A leading `~`, `~/` or `~\` that
 * no shell has expanded (a unit file, Windows) means `homeDir`. Links are resolved, so that a home has one
 * identity (its label, lease and owner) whichever path leads to it (ADR 0164). Throws `config` when there is
 * no directory to start from.
 */
export function homePaths(
  env: Readonly<Record<string, string | undefined>>,
  { cwd, homeDir }: PathContext,
): HomePaths {
  const home = realPath(resolve(cwd, expandTilde(env['CRABTALK_HOME'] || '~/.crabtalk', homeDir)))
  const userConfig = userConfigFolder(env, homeDir) ?? home
  const run = join(home, 'run')
  return {
    home,
    config: join(home, 'config.toml'),
    agents: join(home, 'agents'),
    sessions: join(home, 'sessions'),
    history: join(home, 'history'),
    memory: join(home, 'memory'),
    index: join(home, 'index'),
    skills: join(home, 'skills'),
    instructions: join(home, 'Crab.md'),
    trust: join(home, 'trust.toml'),
    userServers: join(userConfig, 'mcp.toml'),
    subscriptions: join(home, 'events', 'subscriptions.toml'),
    crons: join(home, 'config', 'crons.toml'),
    serviceEnv: join(home, 'service.env'),
    catalog: join(home, 'mcp', 'catalog'),
    packages: join(home, 'packages'),
    vault: join(home, 'vault'),
    vaultChanged: join(home, 'vault.changed'),
    vaultKeys: join(userConfig, 'vault-keys'),
    dotEnv: join(home, '.env'),
    run,
    leases: join(run, 'leases.db'),
    proc: join(run, 'proc'),
    workspace: join(home, 'workspace'),
    cache: join(home, 'cache'),
    undo: join(home, 'cache', 'undo'),
    logs: join(home, 'logs'),
  }
}

/**
 * Returns crabtalk's folder for configuration outside of any home, with its links resolved:
 * `$XDG_CONFIG_HOME/crabtalk`, if that is absolute.
 */
function userConfigFolder(
  env: Readonly<Record<string, string | undefined>>,
  homeDir: string,
): string | undefined {
  const own = env['XDG_CONFIG_HOME'] ?? ''
  if (isAbsolute(own)) return realPath(join(own, 'crabtalk'))
  return homeDir === '' ? undefined : realPath(join(homeDir, '.config', 'crabtalk'))
}

/** Resolves the links of a path whose last parts need not exist yet. */
function realPath(path: string, linksLeft = MAX_LINKS): string {
  try {
    return realpathSync.native(path)
  } catch {
    const target = linksLeft > 0 ? linkTarget(path) : undefined // a link whose target does not exist yet
    if (target !== undefined) return realPath(resolve(dirname(path), target), linksLeft - 1)
    const parent = dirname(path)
    return parent === path ? path : join(realPath(parent, linksLeft), basename(path))
  }
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined // not a link, or missing
  }
}

/** The limit of Linux. */
const MAX_LINKS = 40

function expandTilde(path: string, homeDir: string): string {
  if (!/^~(?=$|[\\/])/.test(path)) return path
  if (homeDir !== '') return join(homeDir, path.slice(2))
  throw new CrabError('config', 'Cannot choose a home directory: this user has none', {
    hint: 'set CRABTALK_HOME to a directory',
  })
}
