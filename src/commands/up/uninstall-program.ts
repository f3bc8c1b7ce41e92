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
      return [`the program itself stays until: npm uninstall${flag} crabtalk`]
    }
    case 'file': {
      const folder = dirname(path)
      if (existsSync(join(dirname(folder), 'share', 'crabtalk', 'installed'))) {
        return ['the program itself stays until: sh install.sh --uninstall, from the archive it came in']
      }
      const others = ['crabup', 'crabup.cmd'].map((name) => join(folder, name))
      const files = [path, ...others, oldProgram(path)].filter((file) => existsSync(file))
      if (path.endsWith('.exe')) return [`the program itself stays until you delete ${files.join(', ')}`]
      return [`the program itself stays until: rm ${files.map(quoteWord).join(' ')}`]
    }
    case 'source':
      return [`the program itself runs from source, in ${dirname(dirname(path))}`]
  }
}
