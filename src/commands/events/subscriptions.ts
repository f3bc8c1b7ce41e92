import type { CommandHandler } from '../../cli/command.ts'
import { printJson, printTable } from '../../cli/print.ts'
import { CrabError } from '../../core/base/errors.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import type { SubscriptionInfo } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { attach } from '../../daemon/attach.ts'

/** Runs `crabtalk events subscribe`. */
export const subscribeCommand: CommandHandler = async ({ options, host, signal }) => {
  const [source = '', targetAgent = ''] = options.args
  await using attached = await attach(host)
  const message = { source, targetAgent, once: options.has('once') }
  const subscription = await request(attached.dispatch, 'subscribeEvent', message, signal)
  if (options.has('json')) return printJson(host, toJson(subscription))
  const often = subscription.once ? ' once' : ''
  host.stdout.write(
    sanitize(
      `subscription ${subscription.id}: ${subscription.source} starts ${subscription.targetAgent}${often}\n`,
    ),
  )
  if (attached.place === 'process') host.stderr.write(`crabtalk: ${WITHOUT_DAEMON}\n`)
  return 0
}

/** Runs `crabtalk events list`. */
export const listSubscriptionsCommand: CommandHandler = async ({ options, host, signal }) => {
  await using attached = await attach(host)
  const { subscriptions, problems } = await request(attached.dispatch, 'listSubscriptions', {}, signal)
  for (const problem of problems) host.stderr.write(sanitize(`crabtalk: ${problem}\n`))
  if (options.has('json')) return printJson(host, subscriptions.map(toJson))
  const rows = subscriptions.map(({ id, source, targetAgent, once }) => [
    String(id),
    source,
    targetAgent,
    once ? 'once' : 'always',
  ])
  if (rows.length > 0) await printTable(host, ['ID', 'SOURCE', 'AGENT', 'FIRES'], rows)
  else if (problems.length === 0) host.stderr.write(NONE)
  return 0
}

/** Runs `crabtalk events unsubscribe`. */
export const unsubscribeCommand: CommandHandler = async ({ options, host, signal }) => {
  const [word = ''] = options.args
  const id = Number(word)
  if (!/^\d+$/.test(word) || !Number.isSafeInteger(id)) {
    throw new CrabError('usage', 'Cannot end that subscription: its id is not a number', {
      hint: 'crabtalk events list shows the ids',
    })
  }
  await using attached = await attach(host)
  await request(attached.dispatch, 'unsubscribeEvent', { id }, signal)
  host.stdout.write(`ended subscription ${id}\n`)
  return 0
}

const NONE = 'No subscriptions yet; create one with crabtalk events subscribe SOURCE AGENT\n'
const WITHOUT_DAEMON = 'no daemon is running, so no agent is started: start one with crabtalk daemon run'

function toJson({ id, source, targetAgent, once }: SubscriptionInfo) {
  return { id, source, agent: targetAgent, once }
}
