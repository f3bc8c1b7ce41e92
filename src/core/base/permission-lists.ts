/** Returns the protected paths as text for users. */
export function describeProtected(): string[] {
  return [
    ...[...PROTECTED_FOLDERS].map((name) => `${name}/**`),
    ...PROTECTED_FILES,
    ...PROTECTED_HOME_PATHS.map((place) => `~/${place}`),
    '~/.bashrc, ~/.zshrc, ~/.profile and other files that a shell reads when it starts',
    "Crab.md and skills/ of crabtalk's home (asked about with --yolo, too)",
  ]
}

/** Folders, at any depth, whose files run programs or instruct agents. */
export const PROTECTED_FOLDERS: ReadonlySet<string> = new Set([
  '.git',
  '.vscode',
  '.idea',
  '.husky',
  '.crabtalk',
  '.claude',
  '.cursor',
  '.direnv',
  '.devcontainer',
  '.zed',
  '.codex',
  '.gemini',
  '.opencode',
  '.windsurf',
  '.github',
  '.cargo',
])

/** Files, in any folder, compared without case, that agents, editors and tools read. */
export const PROTECTED_FILES: ReadonlySet<string> = new Set([
  '.envrc',
  'AGENTS.md',
  'CLAUDE.md',
  'Crab.md',
  'GEMINI.md',
  '.mcp.json',
  '.npmrc',
  '.yarnrc.yml',
  '.pnpmfile.cjs',
  'mise.toml',
  '.mise.toml',
  '.tool-versions',
  '.gitmodules',
  '.pre-commit-config.yaml',
])

/** Protected files and folders below the user's home directory. */
export const PROTECTED_HOME_PATHS: readonly string[] = [
  '.ssh',
  '.gnupg',
  '.aws',
  '.kube',
  '.docker',
  '.cargo', // also when this is the working directory
  '.netrc',
  '.pgpass',
  '.gitconfig',
  '.config/git',
  '.config/autostart',
  '.config/systemd',
  '.config/fish',
  '.config/environment.d',
  '.config/crabtalk',
  '.config/nvim',
  '.config/zsh',
  '.config/powershell',
  '.config/pip',
  '.vim',
  '.emacs',
  '.emacs.d',
  '.oh-my-zsh',
  '.password-store',
  '.local/share/applications',
  '.local/bin',
  '.local/share/systemd',
  'bin',
  'Library/LaunchAgents',
  '.pypirc',
]

/** The commands with forms that are known to change nothing. core/policy/read-only defines these forms. */
export const READ_ONLY_NAMES =
  'cat, tac, rev, head, tail, wc, sort, cut, paste, nl, stat, file, df, du, ls, tree, realpath, ' +
  'readlink, md5sum, sha1sum, sha224sum, sha256sum, sha384sum, sha512sum, b2sum, uniq, comm, ' +
  'cmp, diff, grep, rg, jq, sed, find, git, cd, test, date, tr, basename, dirname, pwd, ' +
  'whoami, uname, nproc, which, type, command, echo, printf, true, false'
