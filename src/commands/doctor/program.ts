import { stat } from 'node:fs/promises'
import { arch, platform } from 'node:os'
import which from 'which'
import { VERSION } from '../../core/base/version.ts'
import { type Check, ok, warning } from './check.ts'

/** Reports the program, what it runs on, and what it searches with. */
export const checkProgram: Check = async ({ host }) => {
  const { path, node, isOneFile, hasRipgrep } = await host.build()
  const { size } = await stat(path)
  const form = isOneFile ? `one file of ${Math.round(size / 1e6)} MB` : 'from source'
  return [
    ok(`crabtalk ${VERSION}, ${form}: ${path}`),
    ok(`Node ${node} on ${platform()} ${arch()}`),
    hasRipgrep ? ok('searches with its own ripgrep') : await findOtherSearch(host.env['PATH']),
  ]
}

async function findOtherSearch(path: string | undefined) {
  const found = await which('rg', { nothrow: true, ...(path !== undefined && { path }) })
  if (found !== null) return ok(`searches with ${found}`)
  return warning('searches without ripgrep, which is slower', 'install ripgrep (rg)')
}
