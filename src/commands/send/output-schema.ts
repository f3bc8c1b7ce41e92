import { z } from 'zod'
import { KINDS } from '../../core/base/errors.ts'
import { OUTPUT_VERSION } from './record.ts'

/** JSON Schema of what `--output json` prints, and of each line of `--output stream-json`. */
export function outputSchema(): object {
  const v = z.literal(OUTPUT_VERSION)
  const count = z.int().min(0)
  const code = z.enum(Object.keys(KINDS))
  const usage = z.strictObject({
    input: count,
    output: count,
    cache_read: count,
    cache_write: count,
    reasoning: count,
  })
  const milliseconds = z.number().min(0)
  const tool = z.strictObject({
    server: z.string().nullable(),
    name: z.string(),
    calls: count,
    errors: count,
    ms: milliseconds,
  })
  const failure = z.strictObject({
    code,
    message: z.string(),
    hint: z.string().nullable(),
    retryable: z.boolean(),
    retry_after_ms: milliseconds.nullable(),
  })
  const time = z.strictObject({
    total_ms: milliseconds,
    to_request_ms: milliseconds.nullable(),
    ttft_ms: milliseconds.nullable(),
    tools_ms: milliseconds,
  })
  const result = {
    ok: z.boolean(),
    exit: count.max(255),
    status: z.union([z.literal('answered'), code]),
    agent: z.string(),
    sender: z.string(),
    session: z.string(),
    text: z.string(),
    structured: z.unknown(),
    stop_reason: z.string().nullable(),
    model: z.string(),
    turns: count,
    usage: usage.nullable(),
    cost_usd: z.number().min(0).nullable(),
    time,
    tools: z.array(tool),
    denied: z.array(z.string()),
    error: failure.nullable(),
  }
  const line = <T extends string, S extends z.core.$ZodLooseShape>(type: T, shape: S) =>
    z.strictObject({ v, type: z.literal(type), seq: count, t: milliseconds, run: z.string(), ...shape })
  const json = z.strictObject({ v, type: z.literal('result'), run: z.string(), ...result })
  const lines = z.discriminatedUnion('type', [
    line('run.started', { agent: z.string(), sender: z.string(), session: z.string(), model: z.string() }),
    line('text.delta', { text: z.string() }),
    line('thinking.delta', { text: z.string() }),
    line('text.done', { text: z.string() }),
    line('tool.started', { id: z.string(), name: z.string(), arguments: z.string() }),
    line('tool.progress', { id: z.string(), message: z.string() }),
    line('tool.result', { id: z.string(), output: z.string(), ms: milliseconds, is_error: z.boolean() }),
    line('usage', usage.shape),
    line('retry', { attempt: count, delay_ms: milliseconds, code, message: z.string() }),
    line('notice', { message: z.string() }),
    line('run.finished', result),
  ])
  return z.toJSONSchema(z.object({ json, 'stream-json': lines }), { io: 'output' })
}
