import type { Block, ToolRun } from '../../../src/tui/view/blocks.ts'

/** Returns a finished call of a tool. */
export function makeTool(tool: Partial<ToolRun> = {}): ToolRun {
  return {
    callId: 'call',
    name: 'bash',
    server: '',
    arguments: '{}',
    state: 'done',
    progress: '',
    output: '',
    durationMs: 0,
    denial: undefined,
    diff: '',
    ...tool,
  }
}

/** Returns blocks of every kind with this text in every place that others control. */
export function makeBlocks(text: string): Block[] {
  const json = (value: unknown) => JSON.stringify(value)
  const tools: Partial<ToolRun>[] = [
    { name: text, arguments: text, output: text, progress: text },
    {
      name: `mcp__${text}__${text}`,
      server: text,
      arguments: json({ [text]: text, b: [text] }),
      output: text,
    },
    { arguments: json({ command: text }), output: text, state: 'failed' },
    { arguments: json({ command: text }), output: `${text}\n[exit code 3]`, state: 'failed' },
    { name: 'read', arguments: json({ path: text }), output: text },
    { name: 'write', arguments: json({ path: text, content: text }), output: `Created ${text}: 1 line` },
    {
      name: 'edit',
      arguments: json({ path: text, edits: [{ old: text, new: `${text}\n${text}` }] }),
      output: text,
    },
    {
      name: 'edit',
      arguments: json({ path: text }),
      diff: `--- a\n+++ b\n@@ -1,2 +1,2 @@\n-${text}\n+${text}\n ${text}`,
    },
    { name: 'edit', arguments: '{}', diff: `@@ -1 +1 @@\n${text}` },
    { name: 'glob', arguments: json({ pattern: text, path: text }), output: text },
    { name: 'ask_user', arguments: json({ questions: [{ question: text }] }), output: text },
    { state: 'denied', denial: { action: text, reason: text, rules: [text, text], by: 1 } },
    { state: 'running', progress: text, arguments: text },
  ]
  return [
    { kind: 'welcome', agent: text, model: text, cwd: text, version: text, hint: text },
    { kind: 'user', text, how: 'sent', files: [text] },
    { kind: 'user', text, how: 'steered', files: [] },
    { kind: 'answer', agent: text, text, isFirst: true, continues: false },
    { kind: 'answer', agent: text, text, isFirst: false, continues: true },
    ...MARKDOWN.map(
      (wrap): Block => ({
        kind: 'answer',
        agent: text,
        text: wrap(text),
        isFirst: true,
        continues: false,
      }),
    ),
    { kind: 'thinking', text, isFirst: true },
    { kind: 'thinking', text, isFirst: false },
    ...tools.map((tool): Block => ({ kind: 'tool', tool: makeTool(tool), follows: false })),
    { kind: 'look-ups', tools: [4, 9].map((at) => makeTool(tools[at])), follows: true },
    { kind: 'turn-end', ms: 12_000, usd: 0.04 },
    ...(['info', 'success', 'warning', 'error'] as const).map(
      (tone): Block => ({
        kind: 'notice',
        tone,
        text,
        hint: text,
      }),
    ),
    { kind: 'output', title: text, text, rows: [[text, text], [text]] },
    { kind: 'answered', question: text, answer: text },
    { kind: 'rule', text },
  ]
}

/** Every place where Markdown may contain a text. */
const MARKDOWN: readonly ((text: string) => string)[] = [
  (text) => `# ${text}`,
  (text) => `**${text}** *${text}* ~~${text}~~ \`${text}\``,
  (text) => `[${text}](http://${text} "${text}") ![${text}](${text})`,
  (text) => `- ${text}\n  - ${text}\n    1. [ ] ${text}`,
  (text) => `> ${text}\n> > ${text}`,
  (text) => `| ${text} | b |\n| - | - |\n| ${text} | ${text} |`,
  (text) => `\`\`\`${text}\n${text}\n\`\`\``,
  (text) => `\`\`\`ts\nconst a = "${text}" // ${text}\n\`\`\``,
  (text) => `<b>${text}</b> <!-- ${text} -->`,
  (text) => `[${text}]: http://${text} "${text}"`,
]
