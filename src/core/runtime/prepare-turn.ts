import { CrabError } from '../base/errors.ts'
import { NO_USAGE } from '../base/message.ts'
import { type AgentConfig, hasRules } from '../config/agent-schema.ts'
import { CLASS_RIGHTS } from '../policy/class-rights.ts'
import type { RuntimeOptions, TurnConfig } from './runtime-options.ts'
import { attachedRules, flagRules, type OpenTurn, resolveWorkspace, type TurnInputs } from './turn-plan.ts'
import type { TurnRequest } from './turn-request.ts'

/** Makes every check that can refuse a turn before anything is written, and returns what they found. */
export async function prepareTurn(
  agent: AgentConfig,
  request: TurnRequest,
  { config, agents }: { config: TurnConfig; agents: RuntimeOptions['agents'] },
): Promise<Omit<TurnInputs, keyof OpenTurn | 'toolAgent'>> {
  const { provider } = config
  const { settings } = request
  if (request.content.trim() === '' && !settings.attachments?.length) {
    // Once stored, it would make providers refuse every later request.
    throw new CrabError('invalid', 'Cannot run a turn: the message is empty')
  }
  const { canWiden } = CLASS_RIGHTS[request.trust]
  const workspace = canWiden && request.cwd !== undefined ? await resolveWorkspace(request.cwd) : undefined
  const roots = await Promise.all((canWiden ? (settings.roots ?? []) : []).map(resolveWorkspace))
  const model = settings.model ?? agent.model ?? provider.defaultModel()
  provider.prepare(model)
  if (settings.maxCostUsd !== undefined && provider.costUsd(model, NO_USAGE) === undefined) {
    throw new CrabError('config', `Cannot enforce a cost limit: the price of ${model} is not known`, {
      hint: 'give input_usd and output_usd with the model in config.toml',
    })
  }
  const agentRules = hasRules(agent) ? await agents.rules(agent.name) : [] // reads the file again, for line numbers
  const flags = [...flagRules(settings), ...attachedRules(settings)]
  return { agent, model, workspace, roots, rules: { flags, agent: agentRules } }
}
