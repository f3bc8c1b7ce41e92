import { isDeepStrictEqual } from 'node:util'
import { parse } from 'smol-toml'
import type { JsonObject } from '../base/message.ts'
import { mergePatch } from './merge-patch.ts'
import { isTable } from './schema.ts'
import { editToml } from './toml-edit.ts'
import { renderValue } from './toml-render.ts'
import { scanToml, startsWith } from './toml-scan.ts'

/**
 * Appends a text to the list `[table] key` of a TOML text. Comments stay, including those inside the list.
 *
 * A missing table is added at the end of the text. The key must be absent or a list.
 */
export function appendToList(text: string, [table, key]: readonly [string, string], value: string): string {
  const before = parse(text) as JsonObject
  const owner = before[table]
  const list = isTable(owner) && Array.isArray(owner[key]) ? owner[key] : []
  const after = mergePatch(before, { [table]: { [key]: [...list, value] } })
  const edited = table in before ? extendList(text, [table, key], value) : addTable(text, [table, key], value)
  return represents(edited, after) ? edited : editToml(text, before, after)
}

function addTable(text: string, [table, key]: readonly [string, string], value: string): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const head = text.trim() === '' ? text : text.replace(/\s*$/, eol + eol)
  return `${head}[${table}]${eol}${key} = [${renderValue(value)}]${eol}`
}

/** Inserts before the closing bracket of the list; on a separate line if the list spans several. */
function extendList(text: string, path: readonly [string, string], value: string): string {
  const items = [...scanToml(text)]
  const pair = items.find((item) => item.kind === 'pair' && isDeepStrictEqual(item.path, path))
  if (pair === undefined) return ''
  const last = items.findLast((item) => item.kind === 'element' && startsWith(item.path, path))
  const start = last?.end ?? pair.valueStart + 1
  const [head, tail, end] = [text.slice(0, start), text.slice(start, pair.end - 1), text.slice(pair.end - 1)]
  if (!text.slice(pair.valueStart, pair.end).includes('\n')) {
    return `${head}${last ? ', ' : ''}${renderValue(value)}${end}`
  }
  const hasComma = last === undefined || tail.replace(/#[^\n]*/g, '').includes(',')
  const [, indent = '  '] = /\n([ \t]*)[^\n]*$/.exec(text.slice(pair.valueStart, last?.start)) ?? []
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const line = `${eol}${last ? indent : '  '}${renderValue(value)},${eol}`
  return `${head}${hasComma ? '' : ','}${tail.trimEnd()}${line}${/[ \t]*$/.exec(tail)![0]}${end}`
}

function represents(text: string, table: JsonObject): boolean {
  try {
    return isDeepStrictEqual(structuredClone(parse(text)), structuredClone(table))
  } catch {
    return false // appendToList() then falls back to editToml()
  }
}
