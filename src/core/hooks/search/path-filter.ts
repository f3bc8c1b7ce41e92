import { CrabError } from '../../base/errors.ts'
import { globMatcher } from '../../base/glob.ts'
import type { PathFilter } from './engine.ts'

/**
 * Parses a glob as the model writes it: without `/` it matches names in any folder, otherwise paths below
 * `root`; a leading `!` inverts it.
 *
 * Throws `invalid` for a malformed glob and for one that leads out of the root.
 */
export function toPathFilter(glob: string, root: string): PathFilter {
  const isNegated = glob.startsWith('!')
  const path = belowRoot(isNegated ? glob.slice(1) : glob, root)
  if (path === '' || path.split('/').includes('..'))
    throw badGlob(glob, 'it must match paths below the folder')
  const whole = path.endsWith('/') ? `${path}**` : path
  const isMatch = toMatcher(whole.replace(/^\//, ''), glob)
  const isName = !whole.includes('/')
  return {
    matches: (file) => isMatch(isName ? file.slice(file.lastIndexOf('/') + 1) : file) !== isNegated,
    nameGlob: isNegated ? undefined : toNameGlob(whole),
  }
}

/** Converts an absolute glob below the root to a relative one, because models also write those. */
function belowRoot(glob: string, root: string): string {
  const inside = glob.startsWith(`${root}/`) ? glob.slice(root.length) : glob
  return inside.replace(/^(\.\/)+/, '')
}

function toMatcher(glob: string, written: string): (path: string) => boolean {
  try {
    return globMatcher(glob)
  } catch (reason) {
    throw badGlob(written, (reason as Error).message)
  }
}

function badGlob(glob: string, why: string): CrabError {
  return new CrabError('invalid', `Cannot use the glob ${JSON.stringify(glob)}: ${why}`)
}

/** Matches globs that every engine interprets the same way; a `?` of ripgrep matches one byte. */
const SIMPLE = /^(?:[\w.*-]|\{[\w.*-]+(?:,[\w.*-]+)+\})+$/

function toNameGlob(glob: string): string | undefined {
  const name = glob.slice(glob.lastIndexOf('/') + 1)
  return SIMPLE.test(name) && !/\*\*|\.\.|^\*$/.test(name) ? name : undefined
}
