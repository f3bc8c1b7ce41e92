/**
 * Builds the complete environment of a server: the caller's variables that programs need to run, to reach
 * the network, the display and agents of this user, and to find packages; and the declared ones. The page
 * docs/mcp-reference.md lists them.
 *
 * Nothing else is inherited, in particular not the API keys of this program's models. Left out are variables
 * that hold a shell function, and addresses that hold a password.
 */
export function serverEnvironment(
  caller: Readonly<Record<string, string | undefined>>,
  declared: Readonly<Record<string, string>>,
): Record<string, string> {
  const inherited = Object.entries(caller).filter((pair): pair is [string, string] => {
    const [name, value] = pair
    return value !== undefined && isInherited(name) && !value.startsWith('()') && !hasPassword(name, value)
  })
  return { ...Object.fromEntries(inherited), ...declared }
}

/** Returns the inherited variables that a server does not get because their address holds a password. */
export function listWithheld(caller: Readonly<Record<string, string | undefined>>): string[] {
  return Object.keys(caller).filter((name) => isInherited(name) && hasPassword(name, caller[name] ?? ''))
}

/** Whether a variable is an address with a password or a token: `http://user:password@proxy:3128`. */
function hasPassword(name: string, value: string): boolean {
  const isAddress = NETWORK.has(name.toUpperCase()) || INDEXES.has(name)
  return isAddress && /^(?:https?:\/\/[^\s/]*|(?:[a-z][a-z0-9+.-]*:\/\/)?[^\s/@]+:[^\s/]*)@/i.test(value)
}

function isInherited(name: string): boolean {
  return (
    NAMES.has(name) ||
    NETWORK.has(name.toUpperCase()) ||
    INDEXES.has(name) ||
    FAMILIES.test(name) ||
    WINDOWS_NAMES.has(name.toUpperCase())
  )
}

const FAMILIES = /^(LC|XDG)_./

/** These names are known in both cases. */
const NETWORK = new Set(['ALL_PROXY', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'NPM_CONFIG_REGISTRY'])

const INDEXES = new Set(['DOCKER_HOST', 'PIP_INDEX_URL', 'UV_DEFAULT_INDEX', 'UV_INDEX_URL'])

const NAMES = new Set([
  'DBUS_SESSION_BUS_ADDRESS',
  'DISPLAY',
  'HOME',
  'LANG',
  'LOGNAME',
  'NODE_EXTRA_CA_CERTS',
  'NVM_DIR',
  'PATH',
  'SHELL',
  'SSH_AUTH_SOCK',
  'SSL_CERT_DIR',
  'SSL_CERT_FILE',
  'TEMP',
  'TERM',
  'TMP',
  'TMPDIR',
  'TZ',
  'USER',
  'VIRTUAL_ENV',
  'WAYLAND_DISPLAY',
  'XAUTHORITY',
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
