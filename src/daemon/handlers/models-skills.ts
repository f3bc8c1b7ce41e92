import {
  type ListModelsMsg,
  type ListSkillsMsg,
  type ModelInfo,
  type ModelList,
  type SkillList,
  SourceKind,
} from '../../core/protocol/crabtalk.generated.ts'
import { listEfforts } from '../../core/provider/efforts.ts'
import type { ModelEntry } from '../../core/provider/types.ts'
import { mayUseSkill } from '../../core/skills/skill-scope.ts'
import type { Services } from '../services.ts'

/**
 * Handles `list_models`: returns the models that can be requested by name, and what is known of them; with
 * `ask`, also the models that servers report.
 */
export async function handleListModels(
  services: Pick<Services, 'models' | 'liveConfig'>,
  { ask }: ListModelsMsg,
  signal: AbortSignal,
): Promise<ModelList> {
  const registry = await services.models(signal)
  const { effort = '' } = await services.liveConfig.config()
  if (!ask) return { models: registry.list().map(toModelInfo), effort }
  const { models } = await registry.listAll(AbortSignal.any([signal, AbortSignal.timeout(LIST_TIMEOUT_MS)]))
  return { models: models.map(toModelInfo), effort }
}

/** The timeout in milliseconds for servers that are asked for their models. */
const LIST_TIMEOUT_MS = 3_000

function toModelInfo({ name, active, provider, facts, foundProgram }: ModelEntry): ModelInfo {
  return {
    name,
    active,
    providerName: provider,
    context: facts.context,
    inputUsd: facts.inputUsd,
    outputUsd: facts.outputUsd,
    efforts: [...listEfforts(name)],
    foundProgram,
  }
}

/**
 * Handles `list_skills`: returns the skills by name, limited to those that `agent` may use if one is named,
 * and the issues of invalid skills.
 */
export async function handleListSkills(
  { skills, agents }: Pick<Services, 'skills' | 'agents'>,
  { agent }: ListSkillsMsg,
): Promise<SkillList> {
  const scope = agent === '' ? [] : (await agents.get(agent, { create: false })).skills
  const { skills: found, problems } = await skills()
  return {
    skills: found
      .filter(({ name }) => mayUseSkill(name, scope))
      .map(({ name, description, folder, root }) => {
        const sourceKind = root.isOwn ? SourceKind.LOCAL : SourceKind.EXTERNAL
        return { name, description, source: folder, sourceKind }
      }),
    problems: problems.map(({ path, line, message }) => ({ path, line, message })),
  }
}
