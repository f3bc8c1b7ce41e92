import type { Command } from '../../../cli/command.ts'
import { JSON_OPTION, YES_OPTION } from '../../../cli/options.ts'

/** The commands of components and packages. */
export const PACKAGE_COMMANDS: readonly Command[] = [
  {
    path: ['pull'],
    args: '<package>',
    kinds: ['file'],
    summary: 'Install a component, or another version of it',
    details: `PACKAGE is a short name (clock), an npm package, a tarball or a folder. The npm on your PATH installs it, from the registry
that npm is configured for, into its own folder below the home directory; package scripts never run. crabup first shows who
published it, how large it is and what it depends on, and asks before it installs a package that is not one of crabtalk's own;
without a terminal, pass --yes.

The new version is used once it is complete. If the component runs as a service, the service is restarted; if it is not ready
within 15 s, the previous version is restored and this exits with 69. If crabup is killed meanwhile, its next command that
manages services or packages restores the previous version.`,
    options: [
      { name: 'version', value: 'VERSION', fallback: 'the newest', summary: 'A version or a tag' },
      YES_OPTION,
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
    summary: 'Update every component to its newest version',
    details: `Prints the old and new versions, then pulls the components one by one; a failure does not affect the others. It asks
about a package whose publisher has changed. A version that failed to start here, while the previous one did start, is reported
and not tried again. Exits with 0 when all components are up to date, otherwise with the code of the last failure.`,
    options: [{ name: 'dry-run', summary: 'Print what would change' }, YES_OPTION],
    examples: ['crabup update', 'crabup update --dry-run'],
    isAlone: true,
    load: async () => (await import('./update.ts')).updateComponentsCommand,
  },
  {
    path: ['rm'],
    args: '<name>',
    kinds: ['service'],
    summary: 'Stop a component and remove it',
    details: 'Its logs are removed as well. Data that it stores elsewhere stays.',
    options: [],
    examples: ['crabup rm clock'],
    isAlone: true,
    load: async () => (await import('./rm.ts')).removeComponentCommand,
  },
  {
    path: ['list'],
    args: '',
    summary: 'List the built-in and the installed components',
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
    details: `SOURCE is a git address (https://…, ssh, file:///…, github:owner/name, optionally with #branch), an npm package, a tarball or
a folder, with a crabtalk.toml at its root. Everything it would install is shown first: files, the tools that skills ask for, what
agents may do, and the MCP servers they would start. Installing runs none of it; agents start their servers when they are used.
It asks for confirmation; without a terminal, pass --yes. If a name is already taken, nothing is installed.`,
    options: [YES_OPTION],
    examples: ['crabup pkg add --yes ./review-kit', 'crabup pkg add --yes review-kit@1.0.0'],
    isAlone: true,
    load: async () => (await import('./pkg.ts')).addPackageCommand,
  },
  {
    path: ['pkg', 'remove'],
    args: '<name>',
    summary: 'Remove the skills and agents of a package',
    details:
      'A skill or an agent that you changed stays, and is listed. Conversations and memory of agents stay.',
    options: [],
    examples: ['crabup pkg remove review-kit'],
    isAlone: true,
    load: async () => (await import('./pkg.ts')).removePackageCommand,
  },
  {
    path: ['pkg', 'list'],
    args: '',
    summary: 'List the packages that installed skills and agents',
    options: [JSON_OPTION],
    examples: ['crabup pkg list', 'crabup pkg list --json'],
    isAlone: true,
    load: async () => (await import('./pkg.ts')).listPackagesCommand,
  },
]
