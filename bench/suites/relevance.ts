import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { toDocuments } from '../../src/core/session-search/documents.ts'
import { toTermTexts } from '../../test/support/brute-force.ts'
import { DEPTH, findRank, type HitRates, hitRates, toHitRates } from '../relevance/hit-rates.ts'
import { Collection, type RankedDocument } from '../relevance/ranking.ts'
import { QUERY_KINDS } from '../relevance/scenarios.ts'
import { type Label, type LabelledSet, readSet, toStoredLines } from '../relevance/set.ts'
import { VARIANTS, type Variant } from '../relevance/variants.ts'
import { openSessionIndex, writeSessions } from '../session-home.ts'
import type { Setting, SuiteResult } from '../setting.ts'
import type { Column, Line } from '../table.ts'

const COLUMNS: readonly Column[] = [
  { key: 'top1', title: 'first, %', digits: 1 },
  { key: 'top3', title: 'of the first 3, %', digits: 1 },
  { key: 'top10', title: 'of the first 10, %', digits: 1 },
  { key: 'mrr', title: 'mean 1 / place', digits: 3 },
  { key: 'queries', title: 'queries' },
]

/** The limit for the product's search on the half that was not used for tuning. */
const TOP_3 = { top3: { least: 80 } }

/**
 * Measures how often a search finds the right conversation: variants of the ranking on the tuning half, and
 * the product's search on both halves, also by kind of query. Nothing is timed.
 */
export async function relevance({ scratch }: Pick<Setting, 'scratch'>): Promise<SuiteResult> {
  const set = readSet()
  const lines: Line[] = compareVariants(set).map(({ name, rates }) => ({
    name: `tuning: ${name}`,
    values: rates,
  }))
  const home = join(scratch, 'relevance')
  await mkdir(home, { recursive: true })
  const sessions = set.history.map((session) => ({
    at: Date.parse(session.at),
    lines: toStoredLines(session),
  }))
  const ids = writeSessions(home, sessions)
  for (const reranks of [false, true]) {
    const name = reranks ? 'crabtalk' : 'crabtalk, not re-ranked'
    await using index = openSessionIndex(home, { reranks })
    await index.settled(new AbortController().signal)
    const places = new Map<Label, number>()
    for (const label of [...set.tuning, ...set.heldOut]) {
      const query = { text: label.text, limit: DEPTH, contextBefore: 0, contextAfter: 0 }
      const { matches } = await index.search(query, new AbortController().signal)
      places.set(
        label,
        findRank(
          label,
          matches.map(({ session }) => ids.indexOf(session)),
        ),
      )
    }
    const rates = (labels: readonly Label[]): HitRates =>
      toHitRates(labels.map((label) => places.get(label)!))
    lines.push({ name: `tuning: ${name}`, values: rates(set.tuning) })
    lines.push({ name: `held out: ${name}`, values: rates(set.heldOut), marks: reranks ? TOP_3 : undefined })
    if (reranks) lines.push(...byKind(set.heldOut, rates))
  }
  return { columns: COLUMNS, lines }
}

function byKind(labels: readonly Label[], rates: (labels: readonly Label[]) => HitRates): Line[] {
  return QUERY_KINDS.map((kind) => ({
    name: `held out: crabtalk: ${kind}`,
    values: rates(labels.filter((label) => label.kind === kind)),
  }))
}

function compareVariants(set: LabelledSet): { name: string; rates: HitRates }[] {
  const documents = set.history.flatMap((session, at) =>
    toStoredLines(session)
      .flatMap((line) => toDocuments({ ...line, seq: 0, ts: session.at }))
      .map(({ kind, text }): RankedDocument => ({ session: at, kind, terms: toTermTexts(text, 'document') })),
  )
  const collections = new Map<Variant['stem'], Collection>()
  return VARIANTS.map((variant) => {
    const { name, ranking, stem } = variant
    const collection = collections.getOrInsertComputed(stem, () => new Collection(stemmed(documents, stem)))
    const rates = hitRates(set.tuning, (text) => collection.search(queryTerms(text, variant), ranking))
    return { name, rates }
  })
}

function stemmed(documents: readonly RankedDocument[], stem: Variant['stem']): readonly RankedDocument[] {
  return stem ? documents.map((document) => ({ ...document, terms: document.terms.map(stem) })) : documents
}

function queryTerms(text: string, { stem, ignored }: Variant): string[] {
  const terms = toTermTexts(text, 'query')
  const remaining = terms.filter((term) => !ignored?.has(term))
  return (remaining.length > 0 ? remaining : terms).map(stem ?? ((term) => term))
}
