import { access } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { FOREIGN_KINDS, type ForeignKind } from './foreign-kinds.ts'

/** A file in which a program keeps its servers. It need not exist. */
export interface ForeignLocation {
  kind: ForeignKind
  path: string
  /** The folder whose servers the file declares; undefined when it is the user's. */
  project?: string
}

/** The facts about a user that determine where programs keep their files. */
export interface LocationFacts {
  homeDir: string
  env: Readonly<Record<string, string | undefined>>
  platform: NodeJS.Platform
  /** The working directory, and every folder above it up to the root of its repository, the nearest first. */
  folders: readonly string[]
}

/** Lists the files of all programs: those of the project first, the nearest folder first. */
export function listLocations(facts: LocationFacts): ForeignLocation[] {
  const own = listUserFiles(facts)
  return FOREIGN_KINDS.flatMap((kind) => [
    ...facts.folders.flatMap((project) =>
      PROJECT_FILES[kind].map((file) => ({ kind, path: join(project, file), project })),
    ),
    ...own[kind].map((path) => ({ kind, path })),
  ])
}

/** Returns a folder and those above it up to the root of its repository; only the folder outside of one. */
export async function findProjectFolders(folder: string): Promise<string[]> {
  const folders: string[] = []
  for (let at = folder; ; at = dirname(at)) {
    folders.push(at)
    if (await isThere(join(at, '.git'))) return folders
    if (dirname(at) === at) return [folder]
  }
}

function listUserFiles({ homeDir, env, platform }: LocationFacts): Record<ForeignKind, string[]> {
  if (homeDir === '') return Object.fromEntries(FOREIGN_KINDS.map((kind) => [kind, []])) as never
  const home = (...parts: string[]) => join(homeDir, ...parts)
  const config = fromEnv(env, 'XDG_CONFIG_HOME') ?? home('.config')
  const appData = fromEnv(env, 'APPDATA') ?? home('AppData', 'Roaming')
  const apps =
    platform === 'win32' ? appData : platform === 'darwin' ? home('Library', 'Application Support') : config
  const zed = platform === 'win32' ? join(appData, 'Zed') : join(config, 'zed')
  return {
    claude: [join(fromEnv(env, 'CLAUDE_CONFIG_DIR') ?? homeDir, '.claude.json')],
    'claude-desktop': [join(apps, 'Claude', 'claude_desktop_config.json')],
    cursor: [home('.cursor', 'mcp.json')],
    vscode: ['mcp.json', 'settings.json'].map((file) => join(apps, 'Code', 'User', file)),
    windsurf: [home('.codeium', 'windsurf', 'mcp_config.json')],
    zed: [join(zed, 'settings.json')],
    codex: [join(fromEnv(env, 'CODEX_HOME') ?? home('.codex'), 'config.toml')],
    gemini: [home('.gemini', 'settings.json')],
    opencode: ['opencode.json', 'opencode.jsonc'].map((file) => join(config, 'opencode', file)),
    librefang: [join(fromEnv(env, 'LIBREFANG_HOME') ?? home('.librefang'), 'config.toml')],
    caliban: [
      join(platform === 'darwin' ? home('Library', 'Caches') : config, 'caliban', 'mcp.toml'),
      ...(platform === 'darwin' ? [join(config, 'caliban', 'mcp.toml')] : []),
    ],
  }
}

/** Returns a folder that a variable names; undefined when it is not set, or not absolute. */
function fromEnv(env: LocationFacts['env'], name: string): string | undefined {
  const value = env[name]
  return value !== undefined && /^(?:[/\\]|[a-z]:[/\\])/i.test(value) ? value : undefined
}

async function isThere(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false, // a folder that cannot be searched ends no repository
  )
}

/** The files below the folder of a project. */
const PROJECT_FILES: Readonly<Record<ForeignKind, readonly string[]>> = {
  claude: ['.mcp.json'],
  'claude-desktop': [],
  cursor: ['.cursor/mcp.json'],
  vscode: ['.vscode/mcp.json', '.vscode/settings.json'],
  windsurf: [],
  zed: ['.zed/settings.json'],
  codex: ['.codex/config.toml'],
  gemini: ['.gemini/settings.json'],
  opencode: ['opencode.json', 'opencode.jsonc'],
  librefang: [],
  caliban: ['.caliban/mcp.toml'],
}
