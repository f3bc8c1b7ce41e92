import { chmod, chown, mkdir, mkdtempDisposable, realpath, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { homePaths } from '../../src/core/config/paths.ts'
import { instructionsHook } from '../../src/core/hooks/instructions/instructions-hook.ts'
import { ownPaths } from '../../src/core/hooks/protected-paths.ts'
import { MemoryLeases } from '../../src/core/lease/memory-leases.ts'
import type { ContextTurn } from '../../src/core/runtime/hook.ts'
import { TrustStore } from '../../src/core/trust/trust-store.ts'
import { CONTEXT_TURN } from './context-turn.ts'

/** The instructions of a turn: the instruction files in the prompt, and the notices with them. */
export interface PromptInstructions {
  prompt: string
  /** The path relative to the place, and the text. */
  files: (readonly [string, string])[]
  /** All warnings except those that list the used files. */
  warnings: string[]
  notices: string[]
}

/**
 * A user with a home directory `user`, crabtalk's home `user/.crabtalk` with a secret in it, a folder `user/work`, and a secret
 * file outside of all of them, `out/secret.md`.
 */
export interface InstructionFixture extends AsyncDisposable {
  root: string
  at(path: string): string
  /** Writes a file and its folders. */
  write(path: string, text?: string | Uint8Array): Promise<void>
  folder(path: string, mode?: number): Promise<void>
  /** Builds the prompt of a turn in that folder with the real hook. */
  read(
    cwd: string,
    turn?: Partial<ContextTurn>,
    options?: { trust?: TrustStore },
  ): Promise<PromptInstructions>
  /** Gives a file to another user; a process without that right acts as another user from then on. */
  giveAway(path: string): Promise<void>
  trust: TrustStore
  /** Returns a store in another file. */
  storeAt(path: string): TrustStore
}

export const OUTSIDE = 'OUTSIDE-SECRET'
export const KEY = 'sk-KEY-OF-THE-HOME'

const UID = process.getuid?.() ?? 0

export async function makeInstructionFixture(): Promise<InstructionFixture> {
  const directory = await mkdtempDisposable(join(tmpdir(), 'crab-instructions-'))
  const root = await realpath(directory.path)
  const at = (path: string) => join(root, path)
  const paths = homePaths({ CRABTALK_HOME: at('user/.crabtalk') }, { cwd: root, homeDir: at('user') })
  const leases = new MemoryLeases()
  const lock = (resource: string, signal: AbortSignal) => leases.take(resource, signal)
  const storeAt = (path: string) => new TrustStore({ path, lock, now: Date.now })
  const trust = storeAt(paths.trust)
  let uid = UID
  const write: InstructionFixture['write'] = async (path, text = path) => {
    await mkdir(dirname(at(path)), { recursive: true })
    await writeFile(at(path), text)
  }
  await write('user/.crabtalk/config.toml', `api_key = "${KEY}"\n`)
  await write('user/.crabtalk/agents/crab.md', `prompt with ${KEY}`)
  await write('out/secret.md', OUTSIDE)
  await mkdir(at('user/work'))
  return {
    root,
    at,
    write,
    trust,
    storeAt,
    async folder(path, mode = 0o755) {
      await mkdir(at(path), { recursive: true })
      await chmod(at(path), mode) // mkdir() obeys the umask
    },
    async giveAway(path) {
      if (UID === 0) await chown(at(path), 12_345, 12_345)
      else uid = UID + 1
    },
    async read(cwd, turn = {}, more = {}) {
      const notices: string[] = []
      const closed = [...ownPaths(paths), paths.workspace]
      const { home, instructions: homeFile } = paths
      const usual = { home, homeFile, homeDir: at('user'), uid, closed, trust }
      const hook = instructionsHook({ ...usual, ...more })
      const notice = (text: string) => notices.push(text)
      const prompt = (await hook.context!(`${root}/${cwd}`, { ...CONTEXT_TURN, notice, ...turn })) ?? ''
      const warnings = notices.filter((text) => !text.startsWith('uses the instructions of '))
      return { prompt, files: parseFiles(prompt, root), warnings, notices }
    },
    [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
  }
}

function parseFiles(prompt: string, root: string): (readonly [string, string])[] {
  const blocks = prompt.matchAll(/^<instructions from="(.*)">\n([\s\S]*?)\n<\/instructions>$/gm)
  return [...blocks].map(([, path = '', text = '']) => [path.replace(`${root}/`, ''), text])
}
