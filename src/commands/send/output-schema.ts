import * as z from 'zod/mini'
import { OUTPUT_VERSION } from '../../cli/turn/record.ts'
import { ERROR_KINDS } from '../../core/base/errors.ts'

/** Returns the JSON Schema of what `--output json` prints, and of each line of `--output stream-json`. */
export function outputSchema(): object {
  const shapes = makeShapes()
  const result = resultShape(shapes)
  const json = z.strictObject({ v: shapes.v, type: z.literal('result'), run: z.string(), ...result })
  const forms = z.object({ json, 'stream-json': streamLines(shapes, result) })
  return z.toJSONSchema(forms, { io: 'output' })
}

type Shapes = ReturnType<typeof makeShapes>

/** Creates the schemas that several others contain. */
function makeShapes() {
  const count = z.int().check(z.minimum(0))
  return {
    v: z.literal(OUTPUT_VERSION),
    count,
    milliseconds: z.number().check(z.minimum(0)),
    code: z.enum(Object.keys(ERROR_KINDS)),
    usage: z.strictObject({
      input: count,
      output: count,
      cache_read: count,
      cache_write: count,
      reasoning: count,
    }),
  }
}

function resultShape(shapes: Shapes) {
  const { count, code, usage } = shapes
  return {
    ok: z.boolean(),
    exit: count.check(z.maximum(255)),
    status: z.union([z.literal('answered'), code]),
    agent: z.string(),
    sender: z.string(),
    session: z.string(),
    text: z.string(),
    structured: z.unknown(),
    stop_reason: z.nullable(z.string()),
    model: z.string(),
    turns: count,
    usage: z.nullable(usage),
    cost_usd: z.nullable(z.number().check(z.minimum(0))),
    time: timeTable(shapes),
    tools: z.array(toolTable(shapes)),
    todo: z.nullable(z.array(todoItem())),
    denied: z.array(z.strictObject({ tool: z.string(), server: z.nullable(z.string()), ...denial() })),
    notices: z.array(z.strictObject({ message: z.string(), server: z.exactOptional(z.string()) })),
    error: z.nullable(errorTable(shapes)),
  }
}

function timeTable({ milliseconds }: Shapes) {
  return z.strictObject({
    total_ms: milliseconds,
    to_request_ms: z.nullable(milliseconds),
    ttft_ms: z.nullable(milliseconds),
    tools_ms: milliseconds,
  })
}

function todoItem() {
  return z.strictObject({ text: z.string(), status: z.enum(['pending', 'in_progress', 'done']) })
}

function toolTable({ count, milliseconds }: Shapes) {
  return z.strictObject({
    server: z.nullable(z.string()),
    name: z.string(),
    calls: count,
    errors: count,
    ms: milliseconds,
  })
}

/** Returns the properties of a call that was not permitted. */
function denial() {
  const by = z.enum(['rule', 'person', 'nobody'])
  return { action: z.string(), reason: z.string(), rules: z.array(z.string()), by }
}

function errorTable({ code, milliseconds }: Shapes) {
  return z.strictObject({
    code,
    message: z.string(),
    hint: z.nullable(z.string()),
    retryable: z.boolean(),
    retry_after_ms: z.nullable(milliseconds),
  })
}

function streamLines(shapes: Shapes, result: ReturnType<typeof resultShape>) {
  const { v, count, code, milliseconds, usage } = shapes
  const line = <T extends string, S extends z.core.$ZodLooseShape>(type: T, shape: S) =>
    z.strictObject({ v, type: z.literal(type), seq: count, t: milliseconds, run: z.string(), ...shape })
  return z.discriminatedUnion('type', [
    line('run.started', { agent: z.string(), sender: z.string(), session: z.string(), model: z.string() }),
    line('text.delta', { text: z.string() }),
    line('thinking.delta', { text: z.string() }),
    line('text.done', { text: z.string() }),
    line('tool.started', { id: z.string(), name: z.string(), arguments: z.string() }),
    line('tool.progress', { id: z.string(), message: z.string() }),
    line('compaction.started', { tokens: count }),
    line('compaction.done', { tokens_before: count, tokens_after: count, archive: z.string() }),
    line('compaction.failed', { message: z.string() }),
    line('tool.result', {
      id: z.string(),
      output: z.string(),
      ms: milliseconds,
      is_error: z.boolean(),
      diff: z.nullable(z.string()),
      denial: z.nullable(z.strictObject(denial())),
    }),
    line('ask.opened', askShape()),
    line('ask.closed', {
      ask: z.string(),
      by: z.string(),
      content: z.nullable(z.record(z.string(), z.string())),
    }),
    line('mcp.state', {
      server: z.string(),
      state: z.enum(['connecting', 'connected', 'failed', 'disconnected', 'unknown']),
      tools: z.array(z.string()),
      error: z.nullable(z.string()),
    }),
    line('usage', usage.shape),
    line('retry', {
      attempt: count,
      delay_ms: milliseconds,
      code,
      message: z.string(),
      discarded_texts: z.exactOptional(count),
    }),
    line('notice', { message: z.string() }),
    line('run.finished', result),
  ])
}

function askShape() {
  const options = z.array(z.strictObject({ label: z.string(), description: z.string() }))
  const question = { question: z.string(), header: z.string(), options, multi: z.boolean() }
  const text = z.string()
  const permission = {
    id: text,
    tool: text,
    server: z.nullable(text),
    arguments: text,
    action: text,
    cwd: text,
    diff: text,
    reason: text,
    rules: z.array(text),
  }
  return {
    ask: text,
    kind: z.enum(['question', 'permission', 'elicitation', 'trust', 'plan']),
    questions: z.array(z.strictObject(question)),
    permission: z.nullable(z.strictObject(permission)),
  }
}
