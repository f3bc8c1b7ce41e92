import { findSecrets, REDACTED, redactWords } from './redact.ts'

/** Words with the secrets back in them, and the places in the list of those where REDACTED is left. */
export interface RestoredWords {
  words: string[]
  lost: number[]
}

/**
 * Returns the words of a command line, or an address, as a client sends them back, with the stored secrets in the place
 * of REDACTED. A secret belongs to what stands before it (an option, a name, `://`), and to the schemes and hosts of the
 * addresses in its word: it follows to no other host.
 *
 * A word is lost where that does not say which secret is meant, or none was stored there; a stored text that is REDACTED itself
 * counts as none.
 */
export function restoreWords(sent: readonly string[], stored: readonly string[]): RestoredWords {
  if (!sent.some((word) => word.includes(REDACTED))) return { words: [...sent], lost: [] }
  const shown = redactWords(stored)
  const isSame = (i: number) => {
    if (sent.length !== stored.length || sent[i] !== shown[i]) return false
    return !sent[i]!.startsWith(REDACTED) || sent[i - 1] === shown[i - 1]
  }
  const open = findSlots(stored, shown).filter(({ word }) => !isSame(word))
  const wanted = sent.flatMap((_, i) => (isSame(i) ? [] : findLeads(sent, i)))
  const take = chooser(open, wanted)
  const lost: number[] = []
  const words = sent.map((word, i) => {
    if (isSame(i)) return stored[i]!
    const secrets = findLeads(sent, i)
      .map(take)
      .map((secret) => (secret === REDACTED ? undefined : secret))
    if (secrets.includes(undefined)) lost.push(i)
    const parts = word.split(REDACTED)
    return parts.map((part, at) => (at === 0 ? '' : (secrets[at - 1] ?? REDACTED)) + part).join('')
  })
  return { words, lost }
}

interface Slot {
  word: number
  lead: string
  secret: string
}

function findSlots(stored: readonly string[], shown: readonly string[]): Slot[] {
  return findSecrets(stored).flatMap((places, word) => {
    const leads = findLeads(shown, word)
    return places.map(([from, to], i) => ({ word, lead: leads[i]!, secret: stored[word]!.slice(from, to) }))
  })
}

/** Returns what stands before each REDACTED of a word, in order, behind the hosts of the word. */
function findLeads(words: readonly string[], at: number): string[] {
  const word = words[at]!
  const parts = word.split(REDACTED)
  const hosts = parts.length > 1 ? hostsIn(word) : ''
  let prefix = ''
  return parts.slice(0, -1).map((part) => {
    prefix += part
    const lead = prefix === '' ? leadOfRun(words, at) : (LEAD.exec(prefix)?.[0] ?? '')
    prefix += REDACTED
    return hosts + lead
  })
}

/**
 * Returns the word before a run of hidden words, and the place in a run of several: when one of them is taken away, nothing
 * says which ones are left, so that none of them is found.
 */
function leadOfRun(words: readonly string[], at: number): string {
  let start = at
  let end = at + 1
  while (words[start - 1]?.startsWith(REDACTED)) start--
  while (words[end]?.startsWith(REDACTED)) end++
  const place = end - start > 1 ? ` ${at - start}/${end - start}` : ''
  return (words[start - 1] ?? '') + place + APART
}

/** Returns the scheme, the host and the port of each address in a word, without the users. */
function hostsIn(word: string): string {
  const addresses = [...word.matchAll(ADDRESS)]
  return addresses.map(([, scheme = '', host = '']) => `${scheme}://${host.replace(USER, '')} `).join('')
}

/**
 * Gives the one secret of a lead, or as many as are wanted, in their order; everything else may mean another one. One that
 * is a word of its own is given once: the word before it may be there for another one.
 */
function chooser(open: readonly Slot[], wanted: readonly string[]): (lead: string) => string | undefined {
  const taken = new Map<string, number>()
  return (lead) => {
    const secrets = open.filter((slot) => slot.lead === lead).map(({ secret }) => secret)
    const at = taken.get(lead) ?? 0
    taken.set(lead, at + 1)
    const more = wanted.filter((one) => one === lead).length - secrets.length
    if (new Set(secrets).size === 1 && !(lead.endsWith(APART) && more > 0)) return secrets[0]!
    return more === 0 ? secrets[at] : undefined
  }
}

/** The end of a lead that is the word before the secret. */
const APART = '\0'
/** Ends only where every reader of addresses ends a host: some drop tabs, and take a backslash for a slash. */
const ADDRESS = /([a-z][a-z\d+.-]{0,63})?:\/\/([^/?#"'<>`]*)/gi
const USER = /^[^\s\\]*@/
const LEAD =
  /(?:[\w.%-]{1,128}\\{0,7}["']?\s{0,8}[=:]\s{0,8}\\{0,7}["']?|:\/\/|--?[\w.-]{1,128}\s{1,8}|(?:^|\s)-[a-z]|\b(?:bearer|basic) {1,8}|[^\w]|\w)$/i
