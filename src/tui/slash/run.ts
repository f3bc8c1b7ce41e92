import { nearest } from '../../core/base/nearest.ts'
import type { ChatEffect } from '../text/effects.ts'
import { findCommands } from '../text/menu.ts'
import { actOnAgents } from './agents.ts'
import { onModeChosen, onYoloChosen } from './approvals.ts'
import { CATALOG, confirmInstall, INSTALL, installFromCatalog } from './catalog.ts'
import { SLASH_COMMANDS } from './commands.ts'
import { onConnect } from './connect.ts'
import { actOnCron } from './cron.ts'
import { onDoctorKey } from './doctor.ts'
import { FOREIGN_COMMANDS } from './foreign-commands.ts'
import { onInitChosen } from './init.ts'
import { onKeyChosen } from './keys.ts'
import { actOnMcp } from './mcp.ts'
import { onMemoryChosen } from './memory.ts'
import { chooseModel } from './models.ts'
import { actOnRule } from './permissions.ts'
import { hint, printNotice, showOverlay } from './print.ts'
import { changeQueue } from './queue.ts'
import { applyRewind, chooseRewind } from './rewind.ts'
import { readPromptCommand, runServerPrompt } from './server-prompt.ts'
import { onSettingChosen, onSettingKey, SETTING } from './settings.ts'
import { findSkill } from './skills.ts'
import { onStatusPart } from './status-parts.ts'
import { chooseTheme } from './themes.ts'
import type { SlashCommand, SlashContext } from './types.ts'

/**
 * Runs a line such as `/model gpt`, or sends it to the agent when it names a skill and not a command. An
 * unknown command is reported here and never reaches a model. Throws the error of a command that fails.
 */
export async function runSlash(line: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  const { name, rest, command, skill, names } = await read(line, context, signal)
  if (skill) return context.say(line.trim())
  const prompt = readPromptCommand(line)
  if (prompt && context.state().turn)
    return printNotice(context, 'warning', `/${name} cannot run during a turn`, 'Esc interrupts it')
  if (prompt) return await runServerPrompt(prompt, context, signal)
  if (!command) return printNotice(context, 'warning', `Unknown command /${name}`, adviceFor(name, names))
  if (!command.whileBusy && context.state().turn) {
    return printNotice(context, 'warning', `/${command.name} cannot run during a turn`, 'Esc interrupts it')
  }
  await command.run(rest.trim(), context, signal)
}

/** Whether a line such as `/model gpt` goes to the agent, because it names a skill and not a command. */
export async function isForAgent(line: string, context: SlashContext, signal: AbortSignal): Promise<boolean> {
  return (await read(line, context, signal)).skill !== undefined
}

async function read(line: string, context: SlashContext, signal: AbortSignal) {
  const [, name = '', rest = ''] = /^\/(\S*)\s*(.*)$/s.exec(line.trim()) ?? []
  const command = findSlash(name)
  const isTaken = command !== undefined && !command.yieldsToSkill
  const { found: skill, names } = isTaken ? NO_SKILL : await findSkill(line.trim(), context, signal)
  return { name, rest, command, skill, names }
}

/** Carries out a choice in a picker or a key of a panel. Throws its error. */
export async function onChosen(
  { picker, value, key, target, level }: ChatEffect & { type: 'chosen' },
  context: SlashContext,
  signal: AbortSignal,
): Promise<void> {
  if (MOVES.has(picker) && context.state().turn) {
    return printNotice(context, 'warning', 'Cannot go back: a turn is running', 'Esc interrupts it')
  }
  if (picker.startsWith('connect')) return await onConnect({ picker, value, key }, context, signal)
  switch (picker) {
    case 'session':
      return openResult(value, key, context)
    case 'agents':
      return actOnAgents({ value, key }, context, signal)
    case 'rewind':
      return chooseRewind(value, context, signal)
    case 'rewind-how':
      return applyRewind(value, context, signal)
    case 'queue':
      return changeQueue({ value, key }, context)
    case 'permissions':
      return actOnRule({ value, key }, context, signal)
    case 'approvals':
      return onModeChosen(value, context)
    case 'yolo':
      return onYoloChosen(value, context)
    case 'model':
      return await chooseModel({ name: value, target, effort: level }, context, signal)
    case 'effort':
      showOverlay(context, undefined)
      return await chooseModel({ name: undefined, target, effort: value }, context, signal)
    case 'mcp':
      return actOnMcp({ value, key }, context, signal)
    case CATALOG:
      return confirmInstall(value, context, signal)
    case INSTALL:
      return installFromCatalog({ agent: value, id: key ?? '' }, context, signal)
    case 'cron':
      return actOnCron({ value, key }, context, signal)
    case 'doctor':
      return onDoctorKey(context, signal)
    case 'init':
      return onInitChosen(value, context)
    case 'memory':
      return onMemoryChosen({ value, key }, context, signal)
    case 'config':
      return onSettingKey({ value, key }, context, signal)
    case 'status-parts':
      return onStatusPart({ value, key }, context, signal)
    case 'theme':
      return chooseTheme(value, context, signal)
    case 'keys':
      return onKeyChosen(value, context)
  }
  if (picker.startsWith(SETTING)) await onSettingChosen({ picker, value }, context, signal)
}

/**
 * Opens a conversation. The match may be further up than the messages that are printed, so a hint says how to
 * reach it.
 */
async function openResult(session: string, word: string | undefined, context: SlashContext): Promise<void> {
  if (session !== context.state().session) await context.openConversation(session)
  if (word !== undefined) hint(context, `Ctrl+O, then /${word}, shows the match`)
}

const NO_SKILL = { found: undefined, names: [] }

/** Pickers whose choice changes the conversation that a turn works on. */
const MOVES: ReadonlySet<string> = new Set(['rewind', 'rewind-how'])

/** Finds a command by name or alias, ignoring case. */
function findSlash(name: string): SlashCommand | undefined {
  const lower = name.toLowerCase()
  return SLASH_COMMANDS.find((command) => command.name === lower || command.aliases?.includes(lower))
}

function adviceFor(name: string, skills: readonly string[]): string {
  const commands = SLASH_COMMANDS.flatMap((command) => [command.name, ...(command.aliases ?? [])])
  const known = FOREIGN_COMMANDS.get(name.toLowerCase())
  if (known !== undefined) return `here it is /${known}`
  const suggestion = nearest(name, [...commands, ...skills]) ?? findCommands(SLASH_COMMANDS, name)[0]?.value
  return suggestion === undefined || name === '' ? '/help lists all commands' : `did you mean /${suggestion}?`
}
