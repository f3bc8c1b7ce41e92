import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CRABTALK_SECTIONS, CRABUP_SECTIONS } from '../../src/cli/sections.ts'
import { scriptFor } from '../../src/commands/completions/scripts.ts'
import type { Shell } from '../../src/commands/completions/shells.ts'
import { CRABTALK } from '../../src/commands/table.ts'
import { CRABUP } from '../../src/commands/up/table.ts'
import { VERSION } from '../../src/core/base/version.ts'
import { manPages } from '../docs/man.ts'
import type { Entry } from './file-tree.ts'

const ROOT = join(import.meta.dirname, '../..')

/** The paths at which each shell looks for completions below a prefix; PowerShell has none. */
const COMPLETIONS: Readonly<Record<Shell, (program: string) => string>> = {
  bash: (program) => `share/bash-completion/completions/${program}`,
  zsh: (program) => `share/zsh/site-functions/_${program}`,
  fish: (program) => `share/fish/vendor_completions.d/${program}.fish`,
  powershell: (program) => `share/crabtalk/completions/${program}.ps1`,
}

/** Reads the files installed with the program: manual pages, completions and the main documents. */
export async function sharedFiles(): Promise<Entry[]> {
  const documents = ['README.md', 'LICENSE', 'CHANGELOG.md']
  const texts = await Promise.all(documents.map((name) => readFile(join(ROOT, name))))
  return [
    ...documents.map((name, index) => ({ path: `share/doc/crabtalk/${name}`, bytes: texts[index]! })),
    ...manual(),
    ...completions(),
  ]
}

function manual(): Entry[] {
  const programs = [
    { name: 'crabtalk', summary: 'Talk with agents', commands: CRABTALK, sections: CRABTALK_SECTIONS },
    { name: 'crabup', summary: 'Keep the services of crabtalk', commands: CRABUP, sections: CRABUP_SECTIONS },
  ]
  return programs.flatMap((program) =>
    [...manPages({ ...program, version: VERSION })].map(([name, page]) => ({
      path: `share/man/man1/${name}`,
      bytes: Buffer.from(page),
    })),
  )
}

function completions(): Entry[] {
  return Object.entries(COMPLETIONS).flatMap(([shell, pathFor]) =>
    ['crabtalk', 'crabup'].map((program) => ({
      path: pathFor(program),
      bytes: Buffer.from(scriptFor(shell as Shell, program)),
    })),
  )
}
