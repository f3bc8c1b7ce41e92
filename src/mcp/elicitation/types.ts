import type { JsonObject } from '../../core/base/message.ts'
import type { Question } from '../../core/runtime/asks.ts'

/** The value of one field of a server's form. */
export type FieldValue = string | number | boolean | string[]

/** The result of a server's question in MCP terms: accepted, declined, or left without a decision. */
export interface ElicitAnswer {
  action: 'accept' | 'decline' | 'cancel'
  /** The fields of an accepted form. */
  content?: Record<string, FieldValue>
}

/** Answers a server's questions during a call, on behalf of the user of one turn. */
export interface ElicitationHandler {
  /** The turn of the call; calls of one turn share it. */
  turn: string
  /**
   * Called once for each call when a question was declined because it could not be attributed to one. Must
   * not throw.
   */
  onDeclined?(): void
  /** Takes the parameters of `elicitation/create` as the server wrote them. Throws only when the signal is aborted. */
  answer(params: JsonObject, signal: AbortSignal): Promise<ElicitAnswer>
}

/** A value, or a clause that says why an answer is not usable. */
export type FieldResult = { value: FieldValue } | { problem: string }

/** One field of a server's form, as a question to the user. */
export interface FormField {
  /** Its key in the answer. */
  name: string
  title: string
  /** The description of the field and its accepted values, made printable. */
  about: string
  options: Question['options']
  multiSelect: boolean
  isRequired: boolean
  /** The value when the user leaves it empty; undefined when there is none. */
  preset: FieldValue | undefined
  /** Reads a non-empty answer. */
  read(answer: string): FieldResult
}

/** The kind of a field, without its name and texts. */
export type FieldKind = Pick<FormField, 'options' | 'multiSelect' | 'read'> & { takes: string }
