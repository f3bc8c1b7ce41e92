/**
 * The whole environment of a server: what it needs of the caller's to run at all, and what is declared for it.
 *
 * Nothing else: the keys of this program's models, say, are no server's business. A variable that holds a shell function
 * is left out.
 */
export function serverEnvironment(
  caller: Readonly<Record<string, string | undefined>>,
  declared: Readonly<Record<string, string>>,
): Record<string, string> {
  const inherited = Object.entries(caller).filter((pair): pair is [string, string] => {
    const [name, value] = pair
    return value !== undefined && isInherited(name) && !value.startsWith('()')
  })
  return { ...Object.fromEntries(inherited), ...declared }
}

function isInherited(name: string): boolean {
  return NAMES.has(name) || FAMILIES.test(name) || WINDOWS_NAMES.has(name.toUpperCase())
}

const FAMILIES = /^(LC|XDG)_./

const NAMES = new Set([
  'HOME',
  'LANG',
  'LOGNAME',
  'NODE_EXTRA_CA_CERTS',
  'PATH',
  'SHELL',
  'TEMP',
  'TERM',
  'TMP',
  'TMPDIR',
  'USER',
])

/** Without these no program runs there. Their case is not fixed, and elsewhere nobody has them. */
const WINDOWS_NAMES = new Set([
  'APPDATA',
  'COMSPEC',
  'HOMEDRIVE',
  'HOMEPATH',
  'LOCALAPPDATA',
  'PATH',
  'PATHEXT',
  'PROGRAMDATA',
  'PROGRAMFILES',
  'PROGRAMFILES(X86)',
  'SYSTEMDRIVE',
  'SYSTEMROOT',
  'USERNAME',
  'USERPROFILE',
  'WINDIR',
])
