/**
 * Builds the complete environment of a server: the caller's variables that any program needs, and the
 * declared ones.
 *
 * Nothing else is inherited, in particular not the API keys of this program's models. A variable that holds a
 * shell function is left out.
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

/**
 * The variables without which no program runs on Windows. Their case varies, and they do not exist elsewhere.
 */
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
