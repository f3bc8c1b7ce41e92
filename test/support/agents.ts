import type { AgentConfig } from '../../src/core/config/agent-schema.ts'

/** A minimal agent. */
export const AGENT: AgentConfig = {
  id: '01J0000000000000000000CRAB',
  name: 'crab',
  prompt: 'You are crab.',
  description: '',
  max_iterations: 100,
  thinking: false,
  skills: [],
  tools: [],
  mcps: [],
}
