import { findCredentials } from '../credentials.ts'
import { findOwnHelper } from '../own-helpers.ts'
import type { TextSpan } from './assigned-secrets.ts'
import { isSecretName, isShaped } from './secret-names.ts'

/** A word of `crabtalk vault env` or `crabtalk vault header`: a text with credentials, and the name that it gets. */
export interface VaultWord {
  /** The variable or the header; undefined when it has the name of its credential. */
  key: string | undefined
  /** The text, in which `${NAME}` and `${NAME:-default}` stand for credentials. */
  template: string
}

/** Whether a helper is one of the vault, or the given one: its arguments are names of credentials. */
export function isVaultHelper(words: readonly unknown[], verb?: 'env' | 'header'): boolean {
  const helper = findOwnHelper(words)
  return verb === undefined ? helper?.startsWith('vault ') === true : helper === `vault ${verb}`
}

/** Parses `NAME`, `KEY=NAME`, `KEY=PREFIX NAME`, or `KEY=text with ${NAME} and ${NAME:-default}`. */
export function parseVaultWord(word: string): VaultWord {
  const [, key, text = word] = /^([^=$]+)=(.*)$/s.exec(word) ?? []
  if (text.includes('${')) return { key, template: text }
  const [, prefix = '', name = text] = /^(.* )?([^ ]*)$/s.exec(text) ?? []
  return { key, template: `${prefix}\${${name}}` }
}

/** Formats a word so that parseVaultWord() returns the same, in its shortest form. */
export function formatVaultWord(key: string, template: string): string {
  const [, prefix = '', name] = /^([\w-]+ )?\$\{([\w.:/@-]+)\}$/.exec(template) ?? []
  if (name === undefined || name.includes(':-')) return `${key}=${template}`
  return prefix === '' && name === key ? name : `${key}=${prefix}${name}`
}

/** A credential that a template names. */
export interface TemplateName {
  name: string
  /** The text for a credential that does not exist, itself a template. */
  fallback: string | undefined
}

/** Lists the credentials that a template names, in order, with those in defaults. */
export function listTemplateNames(template: string): TemplateName[] {
  return [...template.matchAll(PLACEHOLDER)].flatMap(([, name = '', fallback]) => [
    { name, fallback },
    ...listTemplateNames(fallback ?? ''),
  ])
}

/** Returns a template that shows its structure: variables without servers and defaults. */
export function toPlainTemplate(template: string): string {
  return template.replaceAll(PLACEHOLDER, (_, name: string) => `\${${toPlainName(name)}}`)
}

/** Changes the names of all credentials of a template. */
export function renameCredentials(template: string, rename: (name: string) => string): string {
  return template.replaceAll(PLACEHOLDER, (_, name: string, fallback?: string) => {
    const rest = fallback === undefined ? '' : `:-${renameCredentials(fallback, rename)}`
    return `\${${rename(name)}${rest}}`
  })
}

/** Returns the name of a credential as a variable: without the server that it belongs to. */
export function toPlainName(name: string): string {
  return name.replace(/^.*\//s, '').replaceAll(/\W/g, '_')
}

/** Replaces each placeholder of a template; those in defaults only when `toText` replaces them itself. */
export async function fillTemplate(
  template: string,
  toText: (one: TemplateName) => Promise<string>,
): Promise<string> {
  let replaced = ''
  let end = 0
  for (const { index, 0: all, 1: name = '', 2: fallback } of template.matchAll(PLACEHOLDER)) {
    replaced += template.slice(end, index) + (await toText({ name, fallback }))
    end = index + all.length
  }
  return replaced + template.slice(end)
}

/**
 * Finds the secrets in a word of a helper of this program. Names of credentials are not secrets, unless they
 * have the form of a token; `findIn` finds those in the literal text of a template. Returns undefined for a word
 * that has no documented form.
 */
export function findVaultSecrets(
  word: string,
  findIn: (text: string) => readonly TextSpan[],
): TextSpan[] | undefined {
  if (word.includes('${')) return findTemplateSecrets(word, findIn)
  if (!NAMES_ONLY.test(word)) return undefined
  const start = word.search(/[^= ]*$/)
  const name = word.slice(start)
  return TOKEN.test(name) || findCredentials(name).length > 0 ? [[start, word.length]] : []
}

function findTemplateSecrets(word: string, findIn: (text: string) => readonly TextSpan[]): TextSpan[] {
  const { key = '', template } = parseVaultWord(word)
  const start = word.length - template.length
  const found: TextSpan[] = []
  const spans = findIn(template)
  let end = 0
  const addLiteral = (from: number, to: number) => {
    if (isSecretName(key) && isShaped(template.slice(from, to))) found.push([from, to])
    else for (const [a, b] of spans) found.push([Math.max(a, from), Math.min(b, to)])
  }
  for (const { index, 0: all, 1: name = '', 2: fallback = '' } of template.matchAll(PLACEHOLDER)) {
    addLiteral(end, index)
    end = index + all.length
    const isShapedSecret = (isSecretName(key) || isSecretName(name)) && isShaped(fallback)
    if (!fallback.includes('${') && (isShapedSecret || findIn(fallback).length > 0))
      found.push([end - 1 - fallback.length, end - 1])
  }
  addLiteral(end, template.length)
  return found
    .filter(([from, to]) => from < to && /\w/.test(template.slice(from, to)))
    .map(([from, to]) => [from + start, to + start])
}

const PLACEHOLDER = /\$\{([\w./@:-]+?)(?::-((?:[^{}]|\$\{[^{}]*\})*))?\}/g
/** `NAME`, `KEY=NAME` and `KEY=PREFIX NAME`. */
const NAMES_ONLY = /^(?:[\w.-]{1,200}=(?:[\w-]{1,40} )?)?[\w.:/@-]{1,200}$/
/** A random text: the names of credentials have words. */
const TOKEN = /^(?=.*\d)(?=.*[a-z])[A-Za-z\d]{20,}$/
