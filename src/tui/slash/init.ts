import { newPicker } from '../overlays/picker.ts'
import { showOverlay } from './print.ts'
import type { SlashContext } from './types.ts'

/** `/init`: the agent writes an AGENTS.md from a look at the repository; an existing one is only improved, after a question. */
export async function initInstructions(_args: string, context: SlashContext): Promise<void> {
  const existing = await findInstructions(context)
  const own = existing.find((name) => OWN_NAMES.has(name))
  if (own === undefined) return sendTask(context, writeTask(existing))
  const items = [
    { value: own, label: 'Improve it', detail: 'the agent compares it with the repository and edits it' },
    { value: '', label: 'Leave it as it is', detail: '' },
  ]
  showOverlay(context, newPicker({ picker: 'init', title: `${own} exists`, items }))
}

/** Carries out the choice of `/init`: `name` is the file to improve; empty for none. */
export function onInitChosen(name: string, context: SlashContext): void {
  if (name !== '') sendTask(context, improveTask(name))
}

/** Returns the instruction files in the working directory, the one that is read first. */
async function findInstructions({ ports }: SlashContext): Promise<string[]> {
  const found = await Promise.all(NAMES.map((name) => ports.hasFile(name)))
  return NAMES.filter((_, at) => found[at])
}

const NAMES = ['Crab.md', 'AGENTS.md', 'CLAUDE.md', 'GEMINI.md'] as const
/** Files that take precedence over a new AGENTS.md, or are one. */
const OWN_NAMES: ReadonlySet<string> = new Set(['Crab.md', 'AGENTS.md'])

function sendTask(context: SlashContext, content: string): void {
  context.send('/init', { content, attachments: [], problems: [] })
}

function writeTask(others: readonly string[]): string {
  const sources =
    others.length === 0
      ? ''
      : ` Keep what is still true of ${others.join(' and ')}, which AGENTS.md replaces.`
  return `Write an AGENTS.md for this repository: what a new contributor, a person or a model, has to know to work in it.

${LOOK}${sources}

${CONTENTS}

Write it to AGENTS.md in the working directory. Then say in two sentences what is in it, and what you could not find out.`
}

function improveTask(name: string): string {
  return `Improve the ${name} of this repository: compare it with the code, correct what is no longer true, and add what is missing.

${LOOK}

${CONTENTS}

Keep what is right as it is, including the tone and the order of the file. Change it with small edits. Then list the changes, each with its reason.`
}

const LOOK =
  'Look before you write: the README and other documentation, the files that define the build and the checks (such as package.json, Makefile, Cargo.toml, pyproject.toml, CI workflows), the folders, the tests, and some typical source files.'

const CONTENTS = `It contains, as far as that applies here:
- what the project is, in a sentence
- the commands to install, build, run, lint and test, and to run a single test, as the build files define them
- the folders and entry points that one must know
- conventions that no single file shows: names, errors, tests, commits
- traps: generated files, steps that belong together, things that look wrong and are right

Leave out what every programmer knows, complete lists of files, and whatever you have not seen. At most 80 lines.`
