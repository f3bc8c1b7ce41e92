import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Build } from '../../cli/host.ts'
import { quoteWord } from '../../core/base/quote-word.ts'
import { detectInstallation, oldProgram } from '../../up/self/installation.ts'

/** Explains how to remove the program itself, because it does not remove itself while it runs. */
export function removalSteps({ path, isOneFile }: Pick<Build, 'path' | 'isOneFile'>): string[] {
  const installation = detectInstallation({ path, isOneFile })
  switch (installation.kind) {
    case 'npm': {
      const flag = installation.prefix === undefined ? '' : ' -g'
      return [`the program itself is still installed; remove it with: npm uninstall${flag} crabtalk`]
    }
    case 'file': {
      const folder = dirname(path)
      if (existsSync(join(dirname(folder), 'share', 'crabtalk', 'installed'))) {
        return [
          'the program itself is still installed; remove it with: sh install.sh --uninstall, from its archive',
        ]
      }
      const others = ['crabup', 'crabup.cmd'].map((name) => join(folder, name))
      const files = [path, ...others, oldProgram(path)].filter((file) => existsSync(file))
      if (path.endsWith('.exe'))
        return [`the program itself is still installed; to remove it, delete ${files.join(', ')}`]
      return [`the program itself is still installed; remove it with: rm ${files.map(quoteWord).join(' ')}`]
    }
    case 'source':
      return [`the program itself runs from source, in ${dirname(dirname(path))}`]
  }
}
