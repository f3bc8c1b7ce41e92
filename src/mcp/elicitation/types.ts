import type { JsonObject } from '../../core/base/message.ts'
import type { Question } from '../../core/runtime/asks.ts'

/** What a person may give for one field of a server's form. */
export type FieldValue = string | number | boolean | string[]

/** How a server's question ended, as MCP says it: refused, or left without a decision, or answered. */
export interface ElicitAnswer {
  action: 'accept' | 'decline' | 'cancel'
  /** Of a form that was accepted. */
  content?: Record<string, FieldValue>
}

/** Answers what a server wants to know during a call: the person of one turn. */
export interface ElicitationHandler {
  /** Whose call it is: calls of one turn have the same. */
  turn: string
  /** Told, once for a call, that a question was declined as nobody can say whose it is. Must not throw. */
  onDeclined?(): void
  /** Takes the parameters of `elicitation/create` as the server wrote them. Throws only when the signal is aborted. */
  answer(params: JsonObject, signal: AbortSignal): Promise<ElicitAnswer>
}

/** A value, or a clause that says why an answer is none. */
export type FieldResult = { value: FieldValue } | { problem: string }

/** One field of a server's form, as a question to a person. */
export interface FormField {
  /** Its key in the answer. */
  name: string
  title: string
  /** What it means and what it takes, made printable. */
  about: string
  options: Question['options']
  multiSelect: boolean
  isRequired: boolean
  /** What it is when a person leaves it open; undefined when there is none. */
  preset: FieldValue | undefined
  /** Reads an answer that is not empty. */
  read(answer: string): FieldResult
}

/** The kind of a field, before its names. */
export type FieldKind = Pick<FormField, 'options' | 'multiSelect' | 'read'> & { takes: string }
