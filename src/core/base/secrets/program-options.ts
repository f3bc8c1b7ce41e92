import type { TextSpan } from './assigned-secrets.ts'

/** A program option whose value is a secret. */
interface SecretOption {
  /** Matches the option when it is a separate word and the next word is its value. */
  alone?: RegExp
  /** Matches the option at the start of a word that continues with its value. */
  attached?: RegExp
  /** Matches the start of a value such as `USER:PASSWORD`, of which only the password is secret. */
  user?: RegExp
  /** Whether the options end at the first word without a `-`, which is the value or another program. */
  isLauncher?: true
}

/**
 * Returns the program that the following words belong to; undefined when this word ends a command of a
 * script.
 */
export function programAfter(word: string, before: string | undefined): string | undefined {
  if (/[;|&]$/.test(word)) return undefined
  if (before === 'htpasswd' && /^-[A-Za-z]*b/.test(word)) return HTPASSWD
  const name = /[^;|&(`'"/\\]*$/.exec(word.replace(/(?:\.exe)?['"]?$/i, ''))?.[0] ?? ''
  if (name === 'login' && LOGINS.has(before ?? '')) return name
  if (PROGRAMS.has(name) || LOGINS.has(name)) return name
  return PROGRAMS.get(before ?? '')?.isLauncher && !word.startsWith('-') ? undefined : before
}

/** Whether the options of a program are known, so that the meaning of `-p` need not be guessed. */
export function isKnownProgram(program: string | undefined): boolean {
  return PROGRAMS.has(program ?? '')
}

/**
 * Returns the span of the secret in a word that is an option of its program or the value of one; undefined
 * when there is none.
 */
export function optionSecret(program: string | undefined, word: string, before = ''): TextSpan | undefined {
  const { alone, attached, user = /^/ } = PROGRAMS.get(program ?? '') ?? {}
  const isValue = alone?.test(before) === true && !word.startsWith('-')
  const option = isValue ? '' : attached?.exec(word)?.[0]
  if (option === undefined) return undefined
  const from = option.length + (user.exec(word.slice(option.length))?.[0] ?? word).length
  return from < word.length ? [from, word.length] : undefined
}

/** Returns whether a word is the password at the end of a command such as `htpasswd -b FILE USER PASSWORD`. */
export function isLastSecret(program: string | undefined, word: string, after = ';'): boolean {
  return program === HTPASSWD && /^[^-;|&]/.test(word) && (/^[;|&<>)]/.test(after) || /[;|&]$/.test(word))
}

/** htpasswd with an option that makes the last operand a password. */
const HTPASSWD = 'htpasswd -b'

const P = { alone: /^-p$/ }
const CAPITAL_P = { alone: /^-P$/, attached: /^-P/ }
const PASSWORD_ATTACHED = { attached: /^-p/ } // a separate word after -p is a database or a file
const USER = {
  alone: /^(?:-[A-Za-z#]*[uU]|--(?:proxy-)?user)$/,
  attached: /^(?:-[A-Za-z#]*?[uU]|--(?:proxy-)?user=)/,
  user: /^[^:\s]*:/,
} as const

/**
 * Programs that are common in command lines, by name. Options whose names already identify a secret need no
 * row.
 */
const PROGRAMS: ReadonlyMap<string, SecretOption> = new Map([
  ['curl', USER],
  ...rows('http https xh xhs', { alone: /^-a$/, attached: /^-a/, user: /^[^:\s]*:/ }),
  ...rows('mysql mysqldump mysqladmin mysqlimport mysqlcheck mysqlshow mysqlsh', PASSWORD_ATTACHED),
  ...rows('mariadb mariadb-dump mariadb-admin mariadb-import mariadb-check 7z 7za 7zz', PASSWORD_ATTACHED),
  ...rows('mongo mongosh mongodump mongorestore mongoexport mongoimport mongostat', P),
  ...rows('redis-cli redis-benchmark valkey-cli', { alone: /^-a$/ }),
  ...rows('sqlcmd bcp zip unzip ipmitool mosquitto_pub mosquitto_sub', CAPITAL_P),
  ...rows('ldapsearch ldapadd ldapmodify ldapdelete ldappasswd ldapwhoami', {
    alone: /^-w$/,
    attached: /^-w/,
  }),
  ...rows('smbclient smbget smbcacls smbcquotas smbtree rpcclient', {
    alone: /^(?:-U|--user)$/,
    attached: /^(?:-U|--user=)/,
    user: /^[^%\s]*%/,
  }),
  ...rows('snmpget snmpgetnext snmpwalk snmpbulkget snmpbulkwalk snmpset snmptable snmptrap snmpstatus', {
    alone: /^-[cAX]$/,
    attached: /^-[cAX]/,
  }),
  ['sshpass', { alone: /^-p$/, attached: /^-p/, isLauncher: true }],
  ['openssl', { alone: /^-[kK]$/ }],
  ['login', P],
  ['htpasswd', {}],
  [HTPASSWD, {}],
  ...rows('mkdir cp ssh psql tar bsdtar rsync pgcli', {}), // -p of these programs does not take a secret
])

/** Programs whose `login` subcommand takes a password with `-p`. */
const LOGINS: ReadonlySet<string> = new Set([
  'docker',
  'podman',
  'buildah',
  'skopeo',
  'nerdctl',
  'oc',
  'az',
  'registry',
])

function rows(names: string, option: SecretOption): [string, SecretOption][] {
  return names.split(' ').map((name) => [name, option])
}
