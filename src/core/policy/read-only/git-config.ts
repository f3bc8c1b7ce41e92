import { Doubt, showText } from './doubt.ts'

/**
 * Throws a Doubt unless every line of a repository's configuration is understood, and every key is known to
 * start nothing (in the environment of hardenedEnv()). `name` is the displayed file name.
 */
export function checkConfig(text: string, name: string): void {
  let [section, subsection] = ['', '']
  for (const line of text.split(/\r?\n/)) {
    if (/^\s*([#;].*)?$/.test(line)) continue
    const header = /^\s*\[([\w.-]+)(?: "((?:[^"\\]|\\.)*)")?\]\s*$/.exec(line)
    if (header) {
      section = header[1]!.toLowerCase()
      subsection = header[2] === undefined ? '' : `${header[2]}.`
      continue
    }
    const [, key] = /^\s*([A-Za-z][A-Za-z0-9-]*)\s*(?:=.*)?$/.exec(line) ?? []
    if (key === undefined || line.endsWith('\\'))
      throw refuse(name, 'has a line that git may read differently', line)
    const plain = key.toLowerCase()
    if (!isHarmlessKey(section, plain))
      throw refuse(name, verbFor(section, plain), `${section}.${subsection}${key}`)
  }
}

function refuse(name: string, what: string, detail: string): Doubt {
  return new Doubt(`${name} ${what} (${showText(detail)})`, { startsPrograms: true })
}

function verbFor(section: string, key: string): string {
  if (section === 'include' || section === 'includeif') return 'includes other files'
  if (section === 'filter' || PROGRAMS.test(key)) return 'starts programs'
  return 'has a setting that is not known to be harmless'
}

/** Keys whose value is a command, in any section that is not harmless as a whole. */
const PROGRAMS =
  /^(external|textconv|command|cmd|driver|program|pager|sshcommand|gitproxy|askpass|cachetextconv|difffilter|clean|smudge|process)$/

function isHarmlessKey(section: string, key: string): boolean {
  return SECTIONS.has(section) || KEYS.get(section)?.has(key) === true
}

/**
 * Sections that do not affect what reading commands start. Reading commands do not use the programs of
 * `alias` and `credential`.
 */
const SECTIONS: ReadonlySet<string> = new Set(
  'user pull push init fetch merge rebase color advice gui rerere commit maintenance gc pack column credential http url alias submodule receive'.split(
    ' ',
  ),
)

/**
 * The harmless keys of other sections. hardenedEnv() overrides `core.fsmonitor` and `core.hookspath`.
 * `branch.sort` and `tag.sort` are left out, because a sort order may run a program to verify signatures.
 */
const KEYS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    core: 'repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf eol safecrlf abbrev quotepath longpaths protectntfs protecthfs compression trustctime untrackedcache fsmonitor hookspath sharedrepository preloadindex commentchar editor whitespace',
    branch:
      'autosetupmerge autosetuprebase remote pushremote merge mergeoptions rebase description vscode-merge-base gh-merge-base github-pr-owner-number',
    tag: 'gpgsign forcesignannotated',
    remote: 'url pushurl fetch push tagopt prune gh-resolved pushdefault',
    diff: 'algorithm renames renamelimit colormoved mnemonicprefix noprefix context interhunkcontext wserrorhighlight',
    log: 'abbrevcommit date decorate follow mailmap showroot',
    status: 'short branch showuntrackedfiles relativepaths',
  }).map(([section, keys]) => [section, new Set(keys.split(' '))]),
)
