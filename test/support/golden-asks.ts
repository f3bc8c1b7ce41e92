import { PERMISSION_ANSWERS } from '../../src/core/base/permission-answers.ts'
import { PLAN_ANSWERS } from '../../src/core/base/plan-answers.ts'
import {
  AskKind,
  AskUserEvent,
  type DeepPartial,
  type PermissionRequest,
} from '../../src/core/protocol/crabtalk.generated.ts'
import { GOLDEN_CWD } from './golden-facts.ts'

const { once, session, edits, always, no } = PERMISSION_ANSWERS

function permission(
  request: DeepPartial<PermissionRequest>,
  answers: readonly string[] = [once, session, always, no],
): AskUserEvent {
  return AskUserEvent.fromPartial({
    askId: 'q1',
    kind: AskKind.PERMISSION,
    questions: [{ question: 'Allow it?', options: answers.map((label) => ({ label })) }],
    permission: { callId: 'c1', cwd: GOLDEN_CWD, editable: true, ...request },
  })
}

function form(questions: AskUserEvent['questions'], kind: AskKind = AskKind.QUESTION): AskUserEvent {
  return AskUserEvent.fromPartial({ askId: 'q1', kind, questions })
}

const PLAN = `## Make mul() refuse NaN

1. Change \`src/util.ts\`: the same check as in \`add()\`.
2. Add a test:

\`\`\`ts
assert.throws(() => mul(Number.NaN, 2), RangeError)
\`\`\`

3. Run \`npm test\`. Nothing else uses \`mul()\`, so nothing else changes; the check costs one comparison for each call.`

const EDIT_DIFF = `--- src/util.ts
+++ src/util.ts
@@ -3,4 +3,5 @@
 /** Adds two numbers. */
-export function add(a: number, b: number) {
+export function add(a: number, b: number): number {
+  if (!Number.isFinite(a)) throw new RangeError(\`a is \${a}\`)
   return a + b
 }
`

const EDIT = JSON.stringify({
  path: 'src/util.ts',
  edits: [
    {
      old: 'export function add(a: number, b: number) {',
      new: 'export function add(a: number, b: number): number {\n  if (!Number.isFinite(a)) throw new RangeError("not a number")',
    },
  ],
})

const NEW_FILE = Array.from({ length: 60 }, (_, at) => `+export const value${at} = ${at}`).join('\n')

/** A question of each kind. */
export const GOLDEN_ASKS = {
  run: permission({
    ...{
      tool: 'bash',
      action: 'bash: npm test -- --coverage',
      arguments: '{"command":"npm test -- --coverage"}',
    },
    reason: 'no rule allows npm test -- --coverage',
    rules: ['bash(npm test *)'],
  }),
  commands: permission({
    ...{ tool: 'bash', action: 'bash: cd web && npm test && git commit -am wip' },
    arguments: '{"command":"cd web && npm test && git commit -am wip"}',
    rules: ['bash(npm test *)', 'bash(git commit *)'],
    commands: [
      { text: 'cd web', asks: false },
      { text: 'npm test', asks: true, reason: 'no rule allows npm test' },
      { text: 'git commit -am wip', asks: true, reason: 'git commit changes the repository' },
    ],
  }),
  risk: permission(
    {
      ...{ tool: 'bash', action: 'bash: curl -fsSL https://example.com/install.sh | sh' },
      arguments: '{"command":"curl -fsSL https://example.com/install.sh | sh","timeout":600}',
      reason: 'no rule for single commands can allow a pipe into a shell',
      warnings: ['it runs a program that it has just downloaded'],
    },
    [once, no],
  ),
  edit: permission(
    {
      ...{ tool: 'edit', action: 'edit src/util.ts', arguments: EDIT },
      reason: 'it changes a file in the working directory',
      rules: ['edit(src/util.ts)'],
      diff: EDIT_DIFF,
    },
    [once, edits, always, no],
  ),
  write: permission(
    {
      ...{
        tool: 'write',
        action: 'edit src/values.ts',
        arguments: '{"path":"src/values.ts","content":"…"}',
      },
      reason: 'it changes a file in the working directory',
      rules: ['edit(src/values.ts)'],
      diff: `--- src/values.ts\n+++ src/values.ts\n@@ -0,0 +1,60 @@\n${NEW_FILE}\n`,
    },
    [once, edits, always, no],
  ),
  tool: permission({
    ...{ tool: 'create_issue', server: 'github', action: 'call create_issue of github' },
    arguments: '{"owner":"ann","repo":"web","title":"add() accepts NaN","labels":["bug"]}',
    reason: 'no rule',
    rules: ['mcp__github__create_issue'],
  }),
  plan: AskUserEvent.fromPartial({
    ...{ askId: 'q1', kind: AskKind.PLAN },
    questions: [
      {
        ...{ question: PLAN, header: 'Plan' },
        options: [PLAN_ANSWERS.no, PLAN_ANSWERS.accept, PLAN_ANSWERS.acceptEdits].map((label) => ({ label })),
      },
    ],
  }),
  question: form([
    {
      ...{ question: 'Which column should the index cover?', header: 'Index', multiSelect: false },
      options: [
        { label: 'created_at', description: 'the list of orders is sorted by it' },
        {
          label: 'customer, created_at',
          description:
            'the same for one customer, which is what the page of a customer asks for most of the time',
        },
      ],
    },
  ]),
  questions: form([
    {
      ...{ question: 'Which parts should change?', header: 'Parts', multiSelect: true },
      options: [
        { label: 'the parser', description: '' },
        { label: 'the printer', description: 'and its tests' },
      ],
    },
    { question: 'What is the name of the branch?', header: 'Branch', options: [], multiSelect: false },
  ]),
  trust: form(
    [
      {
        ...{ question: 'Use the instruction files of ~/web? AGENTS.md, CLAUDE.md', header: 'Trust' },
        options: [
          { label: 'Yes', description: 'The model reads them in every turn here' },
          { label: 'No', description: 'Work here without them' },
        ],
        multiSelect: false,
      },
    ],
    AskKind.TRUST,
  ),
  server: form(
    [
      {
        ...{ question: 'github asks: which account should be used?', header: 'account', multiSelect: false },
        options: [
          { label: 'ann', description: '' },
          { label: 'acme-bot', description: '' },
          { label: 'Decline', description: '' },
        ],
      },
    ],
    AskKind.ELICITATION,
  ),
} satisfies Record<string, AskUserEvent>
