import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { formatSkillList, skillTool } from '../../../../src/core/hooks/skills/skill-tool.ts'
import type { Skill } from '../../../../src/core/skills/scan-skills.ts'
import { propertyRuns } from '../../../support/property-runs.ts'

test('skillTool() lists skills with their descriptions, the user’s own first, in one line each', () => {
  const skills = [toSkill('b', `Does\n  it \u001b[2J${'x'.repeat(300)}`, false), toSkill('c', 'Own')]
  const tool = skillTool(skills, false)
  assert.deepEqual([tool.name, tool.readOnly, tool.isGuide], ['skill', true, undefined])
  const [, own, other, ...rest] = tool.description.split('\n')
  assert.equal(own, '- c: Own')
  assert.match(other!, /^- b: Does it \\x1b\[2Jx+…$/)
  assert.equal(other!.length, '- b: '.length + 250)
  assert.deepEqual(rest, [])
  assert.equal(skillTool(skills, true).isGuide, true)
})

test('formatSkillList() cuts descriptions of other programs’ skills first, then its own, and names last', () => {
  const own = Array.from({ length: 3 }, (_, i) => toSkill(`own-${i}`, 'o'.repeat(240)))
  const others = Array.from({ length: 20 }, (_, i) => toSkill(`other-${i}`, 't'.repeat(240), false))
  const [first, ...rest] = formatSkillList([...others, ...own], 4000).split('\n')
  assert.equal(first, `- own-0: ${'o'.repeat(240)}`)
  assert.equal(rest[2], `- other-0: ${'t'.repeat(119)}…`)
  const tight = formatSkillList([...others, ...own], 1200).split('\n')
  assert.equal(tight[0], `- own-0: ${'o'.repeat(240)}`)
  assert.equal(tight[3], '- other-0')
  assert.match(formatSkillList([...others, ...own], 60), /^own-0, own-1, .*, other-\d and \d+ more$/)
})

test('formatSkillList() fits its limit, and says how many skills are omitted', () => {
  const name = fc.stringMatching(/^[a-z]([a-z -]{0,62}[a-z])?$/)
  const skill = fc.record({ name, description: fc.string({ maxLength: 400 }), isOwn: fc.boolean() })
  fc.assert(
    fc.property(fc.array(skill, { maxLength: 60 }), fc.integer({ min: 80, max: 6000 }), (all, room) => {
      const skills = all.map(({ name, description, isOwn }) => toSkill(name, description, isOwn))
      const text = formatSkillList(skills, room)
      assert.ok(text.length <= room + ' and 60 more'.length)
      const [, more] = / and (\d+) more$/.exec(text) ?? []
      if (more === undefined) for (const one of skills) assert.ok(text.includes(one.name))
    }),
    { numRuns: propertyRuns(600, 60) },
  )
})

function toSkill(name: string, description: string, isOwn = true): Skill {
  return { name, description, folder: `/s/${name}`, root: { path: '/s', isOwn }, isForModel: true }
}
