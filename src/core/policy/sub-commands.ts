import { QUOTED_VALUE, UNQUOTED_VALUE } from '../base/shell-lexer.ts'

/**
 * Returns a command, and the command without the options between a program and its subcommand: `git push` for
 * `git -C x push`.
 *
 * When it is unclear whether an option takes the next word, the result includes both readings, so it is for
 * restricting rules only.
 */
export function withoutOptions(command: readonly string[]): (readonly string[])[] {
  const [name = '', ...words] = command
  const options = PROGRAMS.get(name)
  if (options === undefined) return [command]
  const plain = removeKnown(words, options)
  const starts = plain.length < words.length ? [words, plain] : [words]
  const rests = starts.flatMap((start) => [start, ...stripOptions(start, options)])
  return rests.map((rest) => [name, ...rest])
}

/** Yields the possible rests of a command after removing its leading options. */
function* stripOptions(words: readonly string[], { flags, values }: Options): Generator<readonly string[]> {
  const starts = new Set([0])
  let count = 0
  for (const at of starts) {
    const word = words[at] ?? ''
    if (!/^[-+]./.test(word)) {
      if (at > 0) yield words.slice(at)
      if (++count >= MAX_RESTS) return
    } else if (word.includes(UNQUOTED_VALUE) || word.includes(QUOTED_VALUE)) {
      yield [UNQUOTED_VALUE]
    } else {
      if (words[at + 1]?.includes(UNQUOTED_VALUE)) yield [UNQUOTED_VALUE]
      const takesNext = values.test(word)
      if (!takesNext) starts.add(at + 1)
      if (takesNext || !(word.includes('=') || flags.test(word))) starts.add(at + 2)
    }
  }
}

/** Removes the options that take a value, with their values, anywhere in the command. */
function removeKnown(words: readonly string[], { values }: Options): string[] {
  return words.filter((word, i) => !(values.test(word) || (i > 0 && values.test(words[i - 1]!))))
}

interface Options {
  /** Options without a value. */
  flags: RegExp
  /** Options that take the next word. */
  values: RegExp
}

/** The maximum number of readings; real commands have fewer. */
const MAX_RESTS = 16

const NPM: Options = {
  flags: /^(-[a-zA-Z]|--(silent|quiet|verbose|global|workspaces|recursive|yes|version|help|json|no-.*))$/,
  values: /^(-[CwF]|--(prefix|dir|cwd|workspace|filter|registry|loglevel|userconfig|cache))$/,
}

const PROGRAMS: ReadonlyMap<string, Options> = new Map([
  [
    'git',
    { flags: /^-/, values: /^(-[Cc]|--(git-dir|work-tree|namespace|config-env|super-prefix|attr-source))$/ },
  ],
  ['npm', NPM],
  ['pnpm', NPM],
  ['yarn', NPM],
  [
    'docker',
    {
      flags: /^(-[Dv]|--(debug|tls|tlsverify|version|help))$/,
      values: /^(-[Hlc]|--(host|context|config|log-level|tlscacert|tlscert|tlskey))$/,
    },
  ],
  [
    'kubectl',
    {
      flags: /^(--(insecure-skip-tls-verify|match-server-version|warnings-as-errors|help))$/,
      values:
        /^(-[nsv]|--(namespace|context|kubeconfig|cluster|user|server|token|as|as-group|cache-dir|request-timeout))$/,
    },
  ],
  [
    'cargo',
    {
      flags: /^(\+.*|-[vqVh]+|--(verbose|quiet|locked|offline|frozen|list|version|help))$/,
      values: /^(-[CZ]|--(config|color|explain))$/,
    },
  ],
  [
    'make',
    { flags: /^(-[bBdeikLmnpqrRsStvw]+|-[jlO].+)$/, values: /^(-[CfIoW]|--(directory|file|makefile))$/ },
  ],
  ['gh', { flags: /^--(help|version)$/, values: /^(-R|--(repo|hostname))$/ }],
])
