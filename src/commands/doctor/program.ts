import { readFile, stat } from 'node:fs/promises'
import { arch, platform } from 'node:os'
import { basename, join } from 'node:path'
import which from 'which'
import { type Check, note, ok, warning } from '../../cli/check.ts'
import { VERSION } from '../../core/base/version.ts'

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

/** Checks whether the user's shell completes crabtalk. */
export const checkCompletions: Check = async ({ host }) => {
  const shell = basename(host.env['SHELL'] ?? '')
  const places = PLACES[shell]
  if (places === undefined) return [note('completions: see crabtalk completions --help')]
  for (const place of places) {
    const path = join(host.homeDir, place)
    const text = await readFile(path, 'utf8').catch(() => '') // it does not exist
    if (/crabtalk (completions|__complete)/.test(text)) return [ok(`${shell} completes crabtalk (${path})`)]
  }
  return [note(`${shell} does not complete crabtalk yet`, 'see crabtalk completions --help')]
}

/** The files in which each shell may set up completions, relative to the user's home directory. */
const PLACES: Readonly<Record<string, readonly string[]>> = {
  bash: ['.bashrc', '.bash_profile', '.profile', '.local/share/bash-completion/completions/crabtalk'],
  zsh: ['.zshrc', '.zprofile', '.zfunc/_crabtalk'],
  fish: ['.config/fish/completions/crabtalk.fish', '.config/fish/config.fish'],
}
