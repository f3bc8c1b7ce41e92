import type { CommandHandler } from '../../cli/command.ts'
import { CrabError } from '../../core/base/errors.ts'
import { didYouMean } from '../../core/base/nearest.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import { type Dispatch, request } from '../../core/protocol/dispatch.ts'
import { attach } from '../../daemon/attach.ts'

/** Runs `crabtalk model use`. */
export const useModelCommand: CommandHandler = async ({ options, host, signal }) => {
  const [model = ''] = options.args
  const level = options.value('effort')
  if (model === '' && level === undefined) {
    throw new CrabError('usage', 'Cannot set a model: neither a name nor --effort is given', {
      hint: 'crabtalk model list shows the models',
    })
  }
  const effort = level === 'default' ? '' : level
  const agent = options.value('agent')
  await using attached = await attach(host, { signal })
  const { dispatch } = attached
  if (agent === undefined) {
    await request(dispatch, 'setActiveModel', { model, ...(effort !== undefined && { effort }) }, signal)
  } else {
    if (model !== '') await checkName(dispatch, model, signal)
    const config = { ...(model !== '' && { model }), ...(effort !== undefined && { effort: effort || null }) }
    await request(
      dispatch,
      'updateAgent',
      { name: agent, config: JSON.stringify(config), prompt: '' },
      signal,
    )
  }
  const what = [...(model === '' ? [] : [model]), ...(level === undefined ? [] : [`effort ${level}`])].join(
    ', ',
  )
  host.stdout.write(sanitize(`${agent === undefined ? 'default' : agent}: ${what}\n`))
  return 0
}

/** Throws `missing` for a model that no provider lists, and that names no provider. */
async function checkName(dispatch: Dispatch, model: string, signal: AbortSignal): Promise<void> {
  const { models } = await request(dispatch, 'listModels', { ask: true }, signal)
  const isKnown = models.some(
    ({ name, providerName }) => name === model || model.startsWith(`${providerName}/`),
  )
  if (isKnown) return
  const names = models.map(({ name }) => name)
  throw new CrabError('missing', `Cannot find model "${model}"`, {
    hint:
      didYouMean(model, names) ??
      'crabtalk model list shows the models; PROVIDER/NAME uses one that is not listed',
  })
}
