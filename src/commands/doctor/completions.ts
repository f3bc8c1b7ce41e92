import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type Check, note, ok } from './check.ts'

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
