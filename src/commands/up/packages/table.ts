import type { Command, CommandOption } from '../../../cli/command.ts'
import { JSON_OPTION } from '../../../cli/options.ts'

const YES: CommandOption = { name: 'yes', short: 'y', summary: 'Do not ask' }

/** The commands of components and packages. */
export const PACKAGE_COMMANDS: readonly Command[] = [
  {
    path: ['pull'],
    args: '<package>',
    kinds: ['file'],
    summary: 'Install a component, or another version of it',
    details: `PACKAGE is a short name (clock), an npm package, a tarball or a folder. It is brought by the npm on your PATH, from the
registry that is set there, into a folder of its own below the home directory; scripts of packages are never run. Who
published it, how large it is and what it needs are shown first, and a package that is not of crabtalk is asked about;
where nobody can be asked it takes --yes.

The new version counts once it is whole. Where the component runs as a service it is restarted, and the version before
comes back when the new one is not ready within 15 s; then this exits 69. Whoever is killed in between leaves that to the next
command of crabup that looks at services or packages.`,
    options: [
      { name: 'version', value: 'VERSION', fallback: 'the newest', summary: 'A version, or a tag' },
      YES,
    ],
    examples: [
      'crabup pull clock',
      'crabup pull clock --version 0.1.0',
      'crabup pull --yes some-component',
      'crabup pull --yes ./my-component',
    ],
    isAlone: true,
    load: async () => (await import('./pull.ts')).pullCommand,
  },
  {
    path: ['update'],
    args: '',
    summary: 'Bring every component to its newest version',
    details: `Prints what changes from where to where, then pulls one after the other; one that fails does not keep the others from it.
A package whose publisher has changed is asked about. A version that did not start here, while the one before did, is named and
not tried again. Exits 0 when all are up to date now, else as the last that failed.`,
    options: [{ name: 'dry-run', summary: 'Print what would change' }, YES],
    examples: ['crabup update', 'crabup update --dry-run'],
    isAlone: true,
    load: async () => (await import('./update.ts')).updateComponentsCommand,
  },
  {
    path: ['rm'],
    args: '<name>',
    kinds: ['service'],
    summary: 'End a component and remove it',
    details: 'Its logs go with it. What it keeps elsewhere stays.',
    options: [],
    examples: ['crabup rm clock'],
    isAlone: true,
    load: async () => (await import('./rm.ts')).removeComponentCommand,
  },
  {
    path: ['list'],
    args: '',
    summary: 'List what is built in and what was pulled',
    options: [JSON_OPTION],
    examples: ['crabup list', 'crabup list --json'],
    isAlone: true,
    load: async () => (await import('./list.ts')).listComponentsCommand,
  },
  {
    path: ['pkg', 'add'],
    args: '<source>',
    kinds: ['file'],
    summary: 'Install the skills and agents of a package',
    details: `SOURCE is a git address (https://…, ssh, file:///…, github:owner/name, with #branch behind it), an npm package, a
tarball or a folder, with a crabtalk.toml at its root. All it would install is shown first: files, the tools skills ask for, what agents
may do, and the MCP servers they would start. Nothing of it is run, now or later by this; agents start their servers when
they are used. It is asked about; where nobody can be asked it takes --yes. A name that is taken is a conflict, and then
nothing is installed.`,
    options: [YES],
    examples: ['crabup pkg add --yes ./review-kit', 'crabup pkg add --yes review-kit@1.0.0'],
    isAlone: true,
    load: async () => (await import('./pkg.ts')).addPackageCommand,
  },
  {
    path: ['pkg', 'remove'],
    args: '<name>',
    summary: 'Remove the skills and agents of a package',
    details:
      'A skill or an agent that was changed since stays, and is named. Conversations and memory of agents stay.',
    options: [],
    examples: ['crabup pkg remove review-kit'],
    isAlone: true,
    load: async () => (await import('./pkg.ts')).removePackageCommand,
  },
  {
    path: ['pkg', 'list'],
    args: '',
    summary: 'List the packages that brought skills and agents',
    options: [JSON_OPTION],
    examples: ['crabup pkg list', 'crabup pkg list --json'],
    isAlone: true,
    load: async () => (await import('./pkg.ts')).listPackagesCommand,
  },
]
