import { ERROR_KINDS, toCrabError } from '../../core/base/errors.ts'
import { didYouMean } from '../../core/base/nearest.ts'
import { completeAddress, isServerAddress } from '../../core/base/server-address.ts'
import { request } from '../../core/protocol/dispatch.ts'
import type { Overlay } from '../overlays/types.ts'
import type { ProviderInput, ProviderOption } from '../ports.ts'
import {
  addressEntry,
  busyMenu,
  type ConnectSubject,
  failedMenu,
  keyEntry,
  mainMenu,
  modelEntry,
  modelPicker,
  otherMenu,
  parseSubject,
} from './connect-menus.ts'
import { dropChoice } from './models.ts'
import { printNotice, showOverlay } from './print.ts'
import type { SlashContext } from './types.ts'

/** `/connect`: connects a model provider; `/connect NAME` begins with that one. */
export async function slashConnect(args: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  const options = sortSaved(await context.ports.providers.list(signal), context)
  if (args === '') return showOverlay(context, mainMenu(options, { title: 'Connect a model provider' }))
  const name = args.toLowerCase()
  const option = options.find(({ id, title }) => id === name || title.toLowerCase() === name)
  if (option) return await askNext(option, { id: option.id, baseUrl: '' }, context, signal)
  const names = options.map(({ id }) => id)
  const hint = didYouMean(name, names) ?? `choose one of ${names.join(', ')}`
  printNotice(context, 'warning', `Unknown provider ${args}`, hint)
}

/** Puts the connected provider of the model in use first: its key is the one that may have failed. */
function sortSaved(options: readonly ProviderOption[], { state }: SlashContext): readonly ProviderOption[] {
  const { model, models } = state()
  const used = models.find(({ name, providerName }) => model === name || model === `${providerName}/${name}`)
  const first = options.find(
    ({ title, savedAddress }) => savedAddress !== undefined && title === used?.providerName,
  )
  return first ? [first, ...options.filter((option) => option !== first)] : options
}

/** Offers to connect a model in a chat that has only the demo: once per home, and never over a draft. */
export async function offerConnect(context: SlashContext, signal: AbortSignal): Promise<void> {
  const { providers } = context.ports
  if (!isUndisturbed(context)) return
  const options = await providers.list(signal)
  if (!isUndisturbed(context) || !(await providers.claimFirstOffer())) return
  showOverlay(context, mainMenu(options, { title: 'No model yet. Connect one:', yieldsToText: true }))
  context.act({ type: 'overlay-armed' }) // it takes only digits, arrows and Enter, which change nothing yet
}

/** Whether a menu would cover nothing that the user has begun. */
function isUndisturbed({ state }: SlashContext): boolean {
  const { overlay, prompt, turn, queue, isLeaving, isLent } = state()
  return !overlay && !turn && prompt.text === '' && queue.length === 0 && !isLeaving && !isLent
}

/** Carries out a step of the dialog: a choice in one of its menus, or a text that was typed. */
export async function onConnect(
  { picker, value, key = '' }: { picker: string; value: string; key?: string | undefined },
  context: SlashContext,
  signal: AbortSignal,
): Promise<void> {
  if (picker === 'connect') return await onProvider(value, context, signal)
  const subject = parseSubject(key)
  const option = await findOption(subject.id, context, signal)
  if (!option) return reportMissing(context)
  switch (picker) {
    case 'connect-address':
      return await onAddress(value, option, context, signal)
    case 'connect-key':
      return await tryOption(option, { subject, apiKey: value }, context, signal)
    case 'connect-failed':
      return await onFailed(value, { option, subject }, context, signal)
    case 'connect-unlisted-model':
      return await save(value, { option, subject, tries: true }, context, signal)
    default:
      return await save(value, { option, subject, tries: false }, context, signal)
  }
}

async function onProvider(value: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  if (value === 'demo') {
    return showOverlay(context, undefined) // its first answer says what it is
  }
  if (value !== 'another') {
    const option = await findOption(value, context, signal)
    if (!option) return reportMissing(context)
    return await askNext(option, { id: option.id, baseUrl: '' }, context, signal)
  }
  const back = findPrevious(context)
  showOverlay(context, otherMenu(await context.ports.providers.list(signal), back))
}

async function onAddress(
  text: string,
  option: ProviderOption,
  context: SlashContext,
  signal: AbortSignal,
): Promise<void> {
  if (!isServerAddress(text)) {
    const { overlay } = context.state()
    const back = overlay?.kind === 'entry' ? overlay.back : undefined
    return showOverlay(context, addressEntry(option, { back, text, problem: 'That is not an http address.' }))
  }
  await askNext(option, { id: option.id, baseUrl: completeAddress(text) }, context, signal)
}

/** Asks for what the provider still needs, or tries it when that is everything. */
async function askNext(
  option: ProviderOption,
  subject: ConnectSubject,
  context: SlashContext,
  signal: AbortSignal,
): Promise<void> {
  const back = findPrevious(context)
  if (option.asksAddress && subject.baseUrl === '')
    return showOverlay(context, addressEntry(option, { back }))
  if (option.key !== 'none') return showOverlay(context, keyEntry(option, { subject, back }))
  await tryOption(option, { subject, apiKey: '' }, context, signal)
}

/** Returns the step of the dialog that is on the screen, as Esc brings it back. */
function findPrevious({ state }: SlashContext): Overlay | undefined {
  const { overlay } = state()
  return overlay?.kind === 'menu' || overlay?.kind === 'entry' ? { ...overlay, isBusy: false } : undefined
}

/** Finds the option of a provider; undefined when it is not offered any more, such as a server that has stopped. */
async function findOption(
  id: string,
  { ports }: SlashContext,
  signal: AbortSignal,
): Promise<ProviderOption | undefined> {
  const options = await ports.providers.list(signal)
  return options.find((option) => option.id === id)
}

function reportMissing(context: SlashContext): void {
  showOverlay(context, undefined)
  printNotice(context, 'warning', 'This provider is not available any more', '/connect lists the providers')
}

/** Tries a provider, with the key of before when `apiKey` is undefined, and asks for the model. */
async function tryOption(
  option: ProviderOption,
  { subject, apiKey }: { subject: ConnectSubject; apiKey: string | undefined },
  context: SlashContext,
  signal: AbortSignal,
): Promise<void> {
  const { id, baseUrl } = subject
  const input: ProviderInput | undefined =
    apiKey === undefined ? undefined : { id, baseUrl: baseUrl || undefined, apiKey: apiKey || undefined }
  const offered = await attempt({ option, subject }, context, signal, (until) =>
    context.ports.providers.tryProvider(input, until),
  )
  if (!offered) return
  if (option.savedAddress !== undefined) return await replaceKey({ option, subject }, context, signal)
  const next =
    offered.names.length > 0
      ? modelPicker(option, { ...offered, subject })
      : modelEntry(option, { usual: offered.usual, subject, isChecked: true })
  showOverlay(context, next)
}

/** Saves a provider again with another key; its models, and the default model, stay. */
async function replaceKey(
  { option, subject }: { option: ProviderOption; subject: ConnectSubject },
  context: SlashContext,
  signal: AbortSignal,
): Promise<void> {
  const saved = await attempt({ option, subject }, context, signal, async (until) => {
    return await context.ports.providers.save(undefined, { tries: false }, until)
  })
  if (!saved) return
  showOverlay(context, undefined)
  printNotice(context, 'success', `Replaced the key of ${option.title}`, saved.place)
}

async function onFailed(
  value: string,
  { option, subject }: { option: ProviderOption; subject: ConnectSubject },
  context: SlashContext,
  signal: AbortSignal,
): Promise<void> {
  switch (value) {
    case 'key':
      return showOverlay(context, keyEntry(option, { subject }))
    case 'address':
      return showOverlay(context, addressEntry(option, { text: subject.baseUrl }))
    case 'again':
      return await tryOption(option, { subject, apiKey: undefined }, context, signal)
    default:
      if (option.savedAddress !== undefined) return await replaceKey({ option, subject }, context, signal)
      return showOverlay(context, modelEntry(option, { usual: undefined, subject, isChecked: false }))
  }
}

async function save(
  model: string,
  { option, subject, tries }: { option: ProviderOption; subject: ConnectSubject; tries: boolean },
  context: SlashContext,
  signal: AbortSignal,
): Promise<void> {
  const saving = (until: AbortSignal) => context.ports.providers.save(model, { tries }, until)
  const saved = await attempt({ option, subject }, context, signal, saving)
  if (!saved) return
  showOverlay(context, undefined)
  await showModel({ model: saved.model ?? model, place: saved.place }, option, context, signal)
}

/** Shows the new default model in the chat, or says that the agent has a model of its own. */
async function showModel(
  { model, place }: { model: string; place: string },
  { title }: ProviderOption,
  context: SlashContext,
  signal: AbortSignal,
): Promise<void> {
  const { dispatch, act, state } = context
  const { models } = await request(dispatch, 'listModels', {}, signal)
  const { model: own } = await request(dispatch, 'getAgent', { name: state().agent }, signal)
  act({ type: 'set', change: { models } })
  await dropChoice(context, signal)
  const hint = own === '' ? place : `${state().agent} has a model of its own: ${own}; /model changes it`
  printNotice(context, 'success', `Connected ${title}. Model: ${model}`, hint)
}

/**
 * Runs a request while the screen says so. Esc cancels it; a failure becomes a menu of what can be done.
 * Returns undefined after both.
 */
async function attempt<T>(
  { option, subject }: { option: ProviderOption; subject: ConnectSubject },
  context: SlashContext,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  const busy = busyMenu(subject.baseUrl === '' ? option.title : subject.baseUrl)
  showOverlay(context, busy)
  const closed = new AbortController()
  const stop = context.subscribe(() => {
    if (context.state().overlay !== busy) closed.abort()
  })
  try {
    const result = await work(AbortSignal.any([signal, closed.signal]))
    return closed.signal.aborted ? undefined : result // what Esc came too late for is not reported as a success
  } catch (reason) {
    if (closed.signal.aborted || signal.aborted) return undefined
    const { kind, message, hint } = toCrabError(reason)
    const isRefused = ERROR_KINDS[kind].exit === ERROR_KINDS.credentials.exit
    stop()
    showOverlay(context, failedMenu({ message, hint }, { option, subject, isRefused }))
    return undefined
  } finally {
    stop()
  }
}
