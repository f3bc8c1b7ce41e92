import { join } from 'node:path'
import { askUserHook } from '../core/hooks/ask-user.ts'
import { bashHook } from '../core/hooks/bash/bash-hook.ts'
import { environmentHook } from '../core/hooks/environment.ts'
import { fileHook } from '../core/hooks/files/file-hook.ts'
import { groupsHook } from '../core/hooks/groups/groups-hook.ts'
import { instructionsHook } from '../core/hooks/instructions/instructions-hook.ts'
import { memoryHook } from '../core/hooks/memory/memory-hook.ts'
import { planHook } from '../core/hooks/plan/plan-hook.ts'
import { guardedPaths, ownPaths } from '../core/hooks/protected-paths.ts'
import { chooseEngine } from '../core/hooks/search/choose-engine.ts'
import { searchHook } from '../core/hooks/search/search-hook.ts'
import { searchSessionsHook } from '../core/hooks/search-sessions/search-sessions-hook.ts'
import { skillsHook } from '../core/hooks/skills/skills-hook.ts'
import { todoHook } from '../core/hooks/todo.ts'
import type { ProcessHost } from '../core/process/types.ts'
import { compositeHook } from '../core/runtime/composite-hook.ts'
import type { Hook } from '../core/runtime/hook.ts'
import { scanSkills } from '../core/skills/scan-skills.ts'
import { skillRoots } from '../core/skills/skill-roots.ts'
import { TrustStore } from '../core/trust/trust-store.ts'
import type { NodeStores } from './build-stores.ts'
import { Components } from './components/components.ts'
import type { LiveConfig } from './live-config.ts'
import type { NodeContext, Services } from './services.ts'

/** The tools of every agent, as one hook, and what feeds it. */
export type NodeTools = Pick<Services, 'hook' | 'components' | 'skills'>

/** Builds the hooks in the order in which a model sees their tools. */
export function buildTools(
  { options, now }: NodeContext,
  parts: { stores: NodeStores; liveConfig: LiveConfig; processes: ProcessHost; mcpHook: Hook },
): NodeTools {
  const { paths, homeDir } = options
  const { stores, liveConfig, processes, mcpHook } = parts
  const components = new Components(paths.run)
  const skills = async () => scanSkills(skillRoots(paths, homeDir, await liveConfig.config()))
  const hooks = [
    components.hook,
    skillsHook({ scan: skills }),
    ...buildBuiltInTools({ options, now }, stores, processes),
    mcpHook,
    ...buildPromptHooks({ options, now }, stores),
  ]
  return { hook: groupsHook(compositeHook(hooks)), components, skills }
}

type ToolContext = Pick<NodeContext, 'options' | 'now'>

function buildBuiltInTools(
  { options: { paths, env, homeDir, ripgrep }, now }: ToolContext,
  { lock, memory, sessionIndex, stores: { storage } }: NodeStores,
  processes: ProcessHost,
): Hook[] {
  const closed = ownPaths(paths)
  const engine = chooseEngine({ processes, ripgrep: () => ripgrep(join(paths.cache, 'bin')), env })
  return [
    fileHook({ closed, homeDir, guarded: guardedPaths(paths), lock }),
    bashHook({ processes, homeDir, closed }),
    searchHook({ engine, closed, homeDir }),
    memoryHook({ memory, now }),
    searchSessionsHook({ search: sessionIndex.search, storage }),
    askUserHook(),
    todoHook(),
    planHook(),
  ]
}

/** Builds the hooks that describe the working directory in the system prompt. */
function buildPromptHooks(
  { options: { paths, env, homeDir, uid }, now }: ToolContext,
  { lock }: NodeStores,
): Hook[] {
  const trust = new TrustStore({ path: paths.trust, lock, now })
  const closed = [...ownPaths(paths), paths.workspace]
  const { home, instructions: homeFile } = paths
  return [
    environmentHook({ shell: env['SHELL'], now }),
    instructionsHook({ home, homeFile, homeDir, uid, closed, trust }),
  ]
}
