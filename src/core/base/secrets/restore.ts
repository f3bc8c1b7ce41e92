import { findSecrets, REDACTED, redactWords } from './redact.ts'

/** Words with their secrets restored. `lost` holds the indexes of words that still contain REDACTED. */
export interface RestoredWords {
  words: string[]
  lost: number[]
}

/**
 * Restores the stored secrets in the words of a command line, or in a URL, that a client sends back with
 * REDACTED. A secret is identified by the text before it (an option, a name, `://`) and by the schemes and
 * hosts of the URLs in its word, so it never moves to another host.
 *
 * A word is lost when this does not identify one secret, or when no secret was stored there; a stored text that is
 * REDACTED itself does not count as a secret.
 */
export function restoreWords(sent: readonly string[], stored: readonly string[]): RestoredWords {
  if (!sent.some((word) => word.includes(REDACTED))) return { words: [...sent], lost: [] }
  const redacted = redactWords(stored)
  const isSame = (i: number) => {
    if (sent.length !== stored.length || sent[i] !== redacted[i]) return false
    return !sent[i]!.startsWith(REDACTED) || sent[i - 1] === redacted[i - 1]
  }
  const open = findSlots(stored, redacted).filter(({ word }) => !isSame(word))
  const requestedLeads = sent.flatMap((_, i) => (isSame(i) ? [] : findLeads(sent, i)))
  const take = createChooser(open, requestedLeads)
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

function findSlots(stored: readonly string[], redacted: readonly string[]): Slot[] {
  return findSecrets(stored).flatMap((spans, word) => {
    const leads = findLeads(redacted, word)
    return spans.map(([from, to], i) => ({ word, lead: leads[i]!, secret: stored[word]!.slice(from, to) }))
  })
}

/** Returns the text before each REDACTED of a word, in order, each prefixed with the hosts in the word. */
function findLeads(words: readonly string[], at: number): string[] {
  const word = words[at]!
  const parts = word.split(REDACTED)
  const hosts = parts.length > 1 ? hostsIn(word) : ''
  let prefix = ''
  return parts.slice(0, -1).map((part) => {
    prefix += part
    const lead = prefix === '' ? findRunLead(words, at) : (LEAD.exec(prefix)?.[0] ?? '')
    prefix += REDACTED
    return hosts + lead
  })
}

/**
 * Returns the word before a run of hidden words and, in a run of several, the position in it. When one of them is removed,
 * nothing tells which ones are left, so none of them is found.
 */
function findRunLead(words: readonly string[], at: number): string {
  let start = at
  let end = at + 1
  while (words[start - 1]?.startsWith(REDACTED)) start--
  while (words[end]?.startsWith(REDACTED)) end++
  const place = end - start > 1 ? ` ${at - start}/${end - start}` : ''
  return (words[start - 1] ?? '') + place + APART
}

/** Returns the scheme, host and port of each URL in a word, without user information. */
function hostsIn(word: string): string {
  const addresses = [...word.matchAll(ADDRESS)]
  return addresses.map(([, scheme = '', host = '']) => `${scheme}://${host.replace(USER, '')} `).join('')
}

/**
 * Returns a function that chooses the secret for a lead. It succeeds when only one secret fits, or when there are as many
 * secrets as requests, which are then assigned in order; anything else is ambiguous. A secret that is a whole word is
 * assigned once only, because the word before it may belong to another one.
 */
function createChooser(
  open: readonly Slot[],
  requestedLeads: readonly string[],
): (lead: string) => string | undefined {
  const usedCounts = new Map<string, number>()
  return (lead) => {
    const secrets = open.filter((slot) => slot.lead === lead).map(({ secret }) => secret)
    const at = usedCounts.get(lead) ?? 0
    usedCounts.set(lead, at + 1)
    const more = requestedLeads.filter((one) => one === lead).length - secrets.length
    if (new Set(secrets).size === 1 && !(lead.endsWith(APART) && more > 0)) return secrets[0]!
    return more === 0 ? secrets[at] : undefined
  }
}

/** Ends a lead that is the whole word before the secret. */
const APART = '\0'
/** Matches up to where every URL parser ends the host: some drop tabs, and treat a backslash as a slash. */
const ADDRESS = /([a-z][a-z\d+.-]{0,63})?:\/\/([^/?#"'<>`]*)/gi
const USER = /^[^\s\\]*@/
const LEAD =
  /(?:[\w.%-]{1,128}\\{0,7}["']?\s{0,8}[=:]\s{0,8}\\{0,7}["']?|:\/\/|--?[\w.-]{1,128}\s{1,8}|(?:^|\s)-[a-z]|\b(?:bearer|basic) {1,8}|[^\w]|\w)$/i
