import type { InstructionFixture } from './instruction-fixture.ts'

/** One trick with instruction files: how it is set up, where the turn works, and the expected result. */
export interface InstructionTrick {
  name: string
  play(fixture: InstructionFixture): Promise<unknown>
  cwd?: string
  /** The files that are used, in order; each contains its own path unless a text is given. */
  used: readonly (string | readonly [string, string | RegExp])[]
  /** The notices that the user sees, one pattern for each. */
  notices?: readonly RegExp[]
}

export const WORK = 'user/work'
export const AGENTS = `${WORK}/AGENTS.md`
export const OWN_FILE = /it is not read: it is one of crabtalk's own files/

/** Makes a folder the root of a repository. */
export async function makeRepository(fixture: InstructionFixture, folder = WORK): Promise<void> {
  await fixture.folder(`${folder}/.git`)
}
