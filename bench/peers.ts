import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** Another program of the same kind, with its own home that is configured for the loopback model. */
export interface Peer {
  /** The name with the version. */
  name: string
  command: string
  env: Readonly<Record<string, string>>
  /**
   * The arguments with which it answers "say hi" and exits; missing when it cannot be pointed at another
   * server.
   */
  oneShot?: { args: readonly string[]; expects: RegExp }
  chat: {
    args: readonly string[]
    /** A pattern that its screen matches once it accepts input. */
    ready: RegExp
  }
}

interface Kind extends Pick<Peer, 'oneShot' | 'chat'> {
  /** Returns the files to create in its home. */
  files(place: { modelUrl: string; cwd: string }): Readonly<Record<string, string>>
  env?: Readonly<Record<string, string>>
}

/** Finds the known programs in `node_modules/.bin` of a folder and gives each a home below `homes`. */
export async function findPeers(
  folder: string | undefined,
  { homes, modelUrl, cwd }: { homes: string; modelUrl: string; cwd: string },
): Promise<Peer[]> {
  if (folder === undefined) return []
  const found = Object.entries(KINDS).flatMap(([name, kind]) => {
    const command = join(folder, 'node_modules/.bin', name)
    return existsSync(command) ? [{ name, kind, command }] : []
  })
  return await Promise.all(
    found.map(async ({ name, kind: { files, env, ...kind }, command }) => {
      const home = join(homes, name)
      await mkdir(home, { recursive: true })
      for (const [file, text] of Object.entries(files({ modelUrl, cwd }))) {
        await mkdir(dirname(join(home, file)), { recursive: true })
        await writeFile(join(home, file), text)
      }
      const full = { HOME: home, ...env }
      return { name: `${name} ${readVersion(command, full)}`.trimEnd(), command, env: full, ...kind }
    }),
  )
}

function readVersion(command: string, env: Readonly<Record<string, string>>): string {
  try {
    const output = execFileSync(command, ['--version'], {
      env: { PATH: process.env['PATH'], ...env },
      encoding: 'utf8',
      timeout: 60_000,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    return /\d+\.\d+\.\d+/.exec(output)?.[0] ?? ''
  } catch {
    return '' // the row of a program that does not run says why
  }
}

const KINDS: Readonly<Record<string, Kind>> = {
  codex: {
    files: ({ modelUrl, cwd }) => ({
      '.codex/config.toml': `model = "loopback"
model_provider = "loop"
approval_policy = "never"
sandbox_mode = "read-only"
check_for_update_on_startup = false

[model_providers.loop]
name = "loop"
base_url = "${modelUrl}"
wire_api = "responses"

[projects."${cwd}"]
trust_level = "trusted"
`,
    }),
    oneShot: { args: ['exec', '--skip-git-repo-check', 'say hi'], expects: /Hi there\./ },
    chat: { args: [], ready: /Ask Codex|\? for shortcuts/ },
  },
  pi: {
    files: ({ modelUrl }) => ({
      '.pi/agent/models.json': JSON.stringify({
        providers: {
          loop: {
            baseUrl: modelUrl,
            api: 'openai-completions',
            apiKey: 'none',
            models: [{ id: 'loopback' }],
          },
        },
      }),
    }),
    env: { PI_OFFLINE: '1' },
    oneShot: { args: ['--provider', 'loop', '--model', 'loopback', '-p', 'say hi'], expects: /Hi there\./ },
    chat: { args: ['--provider', 'loop', '--model', 'loopback'], ready: /\d+k \(auto\)/ },
  },
  opencode: {
    files: ({ modelUrl }) => ({
      '.config/opencode/opencode.json': JSON.stringify({
        model: 'loop/loopback',
        small_model: 'loop/loopback',
        autoupdate: false,
        share: 'disabled',
        provider: {
          loop: {
            npm: '@ai-sdk/openai-compatible',
            options: { baseURL: modelUrl, apiKey: 'none' },
            models: { loopback: {} },
          },
        },
      }),
    }),
    oneShot: { args: ['run', 'say hi'], expects: /Hi there\./ },
    chat: { args: [], ready: /Ask anything/ },
  },
  claude: {
    files: ({ cwd }) => ({
      '.claude.json': JSON.stringify({
        hasCompletedOnboarding: true,
        theme: 'dark',
        customApiKeyResponses: { approved: ['none'] },
        projects: { [cwd]: { hasTrustDialogAccepted: true } },
      }),
    }),
    env: {
      DISABLE_AUTOUPDATER: '1',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      ANTHROPIC_API_KEY: 'none',
    },
    chat: { args: [], ready: /\? for shortcuts/ },
  },
  gemini: {
    files: () => ({
      '.gemini/settings.json': JSON.stringify({
        security: { auth: { selectedType: 'gemini-api-key' } },
        general: { disableAutoUpdate: true },
      }),
    }),
    env: { GEMINI_API_KEY: 'none' },
    chat: { args: [], ready: /Type your message/ },
  },
}
